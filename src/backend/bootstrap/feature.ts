import { hmacSha256 } from "src/platform/hmac-sha256";
import { Bootstrap, type BootstrapOptions } from "./bootstrap.js";

/** Asks a server for the backend: the setting `otaUrl`. */
export default (options: Omit<BootstrapOptions, "hmacSha256">): Bootstrap => new Bootstrap({ ...options, hmacSha256 });
