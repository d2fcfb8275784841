// For programs that add their own transports: the gateway. The manager itself is in ../manager/index.ts.

export * from "../store/store.js";
export { EVERY_DEVICE } from "./aliases.js";
export * from "./asking.js";
export * from "./connection.js";
export {
	backoff,
	describeIssues,
	isServerErrorCode,
	SERVER_ERROR,
	SESSION_NOT_FOUND,
	ServerError,
	type ServerErrorCode,
} from "./errors.js";
export { inputSchemaOf } from "./input-schema.js";
export { digest, isSimilar, portable, slug } from "./names.js";
export {
	hashOfOffers,
	type Offers,
	present,
	readList,
	type ServerPrompt,
	type ServerResource,
	type ServerTemplate,
	type ServerTool,
	withoutExecution,
} from "./offers.js";
export {
	clientInput,
	failedResult,
	jsonIn,
	jsonOf,
	MAX_NESTING,
	nestsDeeper,
	RateLimit,
	readableError,
	readClientMessage,
	readMessage,
	textOf,
	textResult,
} from "./received.js";
export { type ServerEdit, ServerRegistry, type ServerRegistryOptions } from "./registry.js";
export { replaceFile, replaceFileSync } from "./replace-file.js";
export type { Results } from "./results.js";
export * from "./server.js";
export { headerProblem } from "./usable-schema.js";
