/// <reference path="../types/hmac.d.ts" />
import { Digest } from "crypt";
import HMAC from "hmac";

/** HMAC-SHA256 (RFC 2104), by the SDK's digest. */
export const hmacSha256 = async (key: ArrayBuffer, message: ArrayBuffer): Promise<ArrayBuffer> =>
	new HMAC(new Digest("SHA256"), key).process(message);
