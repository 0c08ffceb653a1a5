import { config } from "./config.ts"
import { creation } from "./create.ts"
import { lifecycle } from "./lifecycle.ts"
import { loggers } from "./loggers.ts"
import { odd } from "./names.ts"
import { offsets } from "./offsets.ts"
import { protocol } from "./protocol.ts"
import { reconfiguration } from "./reconfiguration.ts"
import { restart } from "./restart.ts"
import { tasks } from "./tasks.ts"
import type { Theme } from "./Theme.ts"
import { topics } from "./topics.ts"
import { validate } from "./validate.ts"
import { worker } from "./worker.ts"

export const themes: ReadonlyArray<Theme> = [
  worker,
  creation,
  config,
  lifecycle,
  restart,
  tasks,
  offsets,
  topics,
  loggers,
  reconfiguration,
  validate,
  protocol,
  odd
]
