import type { Addons } from "../app/addons.js";
import { EcmaHttp } from "../net/ecma-http.js";

const http: Addons["http"] = (options) => new EcmaHttp(options);
export default http;
