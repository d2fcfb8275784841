// For programs that add their own transports: the gateway. The manager itself is in ../manager/index.ts.

export * from "../store/store.js";
export { EVERY_DEVICE } from "./aliases.js";
export {
	canAnswer,
	capabilityFor,
	type OrInput,
	type Question,
	REVISION_OF_STATELESS,
	relayedExtensions,
} from "./asking.js";
export {
	type AudioChannel,
	type AudioEvents,
	type Cancellable,
	type Capabilities,
	Connection,
	type ConnectionEvents,
	isBelow,
	type KnownServer,
	type LogLevel,
	type LogMessage,
	type PendingRequest,
	type Request,
	type RequestContext,
	type ServerIdentity,
	type ServerInfo,
} from "./connection.js";
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
export {
	type CallDetails,
	type CallRecord,
	isUserOnly,
	type Notification,
	type Server,
	type ServerRecord,
	type Upload,
	type Uploads,
} from "./server.js";
export { headerProblem } from "./usable-schema.js";
