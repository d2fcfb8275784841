import type { Addons } from "../app/addons.js";
import { BackendSearch } from "../connect/backend-search.js";
import { ServedTransport } from "../connect/served-transport.js";

const search: Addons["search"] = {
	begin: (options) => new BackendSearch(options),
	transport: (maxMessageBytes) => new ServedTransport(maxMessageBytes),
};
export default search;
