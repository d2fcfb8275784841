import { Content } from "../content.js";
import { contentsJson, type ResourceData } from "./resource.js";

/** A resource as a part of a message. */
export interface EmbeddedResource {
	readonly uri: string;
	readonly mimeType?: string;
	readonly data: ResourceData;
}

/**
 * A resource with its contents, in a tool's result or a prompt:
 * https://modelcontextprotocol.io/specification/2025-11-25/server/tools#embedded-resources
 *
 * @example
 * return embeddedResource({ uri: "log://today", mimeType: "text/plain", data: lines.join("\n") });
 */
export const embeddedResource = ({ uri, mimeType, data }: EmbeddedResource): Content =>
	new Content(`{"type":"resource","resource":${contentsJson(uri, mimeType, data)}}`);
