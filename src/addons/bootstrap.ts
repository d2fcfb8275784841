import { hmacSha256 } from "src/platform/hmac-sha256";
import type { Addons } from "../app/addons.js";
import { Bootstrap } from "../connect/bootstrap.js";

const bootstrap: Addons["bootstrap"] = (options) => new Bootstrap({ ...options, hmacSha256 });
export default bootstrap;
