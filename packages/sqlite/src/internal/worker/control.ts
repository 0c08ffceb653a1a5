/** The worker thread of `control.db`: the config log and the lock of the directory. */
import type { ControlCalls } from "../calls.ts"
import { configLog, pruneTombstones } from "./configLog.ts"
import { control } from "./controlSchema.ts"
import { openDatabase } from "./openDatabase.ts"
import { processLock } from "./processLock.ts"
import { serve } from "./serve.ts"
import { sessionKeys } from "./sessionKeys.ts"
import { sessions } from "./sessions.ts"

serve<ControlCalls>(control.name, (opening) => {
  const open = openDatabase(control, opening, {
    drawn: true,
    prepare: (database) => pruneTombstones(database, opening.nowMillis)
  })
  const { release, ...lock } = processLock(opening.directory)
  const { release: leave, ...group } = sessions(open.database, opening.directory)
  return {
    ...open,
    handlers: { ...configLog(open.database), ...lock, ...group, ...sessionKeys(open.database) },
    closing: () => {
      leave()
      release()
    }
  }
})
