import { BackendSearch, type BackendSearchOptions } from "./backend-search.js";

/** Searches for the backend by `bootstrap` or `discovery`. */
export default (options: BackendSearchOptions): BackendSearch => new BackendSearch(options);
