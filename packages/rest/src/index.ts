export * as ConnectApi from "./ConnectApi.ts"
export { ConnectClient } from "./ConnectClient.ts"
export * as Rest from "./Rest.ts"
export * as RestError from "./RestError.ts"
