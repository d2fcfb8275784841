import { hmacSha256 } from "src/platform/hmac-sha256";
import { bootstrapFeature } from "./bootstrap.js";

/** Asks a server for the backend: the setting `otaUrl`. */
export default bootstrapFeature(hmacSha256);
