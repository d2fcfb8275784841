import { deepFreeze } from "../../text/deep-freeze.js";
import { BackendSearch, type BackendSearchOptions } from "./backend-search.js";
import { ServedTransport } from "./served-transport.js";

/** For what finds the backend, `bootstrap` and `discovery`; and for a device that serves clients without one. */
export default deepFreeze({
	begin: (options: BackendSearchOptions): BackendSearch => new BackendSearch(options),
	/** The transport of a backend that becomes known later. */
	transport: (maxMessageBytes: number): ServedTransport => new ServedTransport(maxMessageBytes),
});
