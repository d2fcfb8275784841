import {
	isJSONRPCRequest,
	type JSONRPCMessage,
	type RequestOptions,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { SERVER_ERROR } from "xs-mcp-manager/core";

const LOST = "lost the connection to the gateway";

/**
 * Time-out without a message of the gateway, for a network that fails silently. The gateway's own limits are much
 * shorter.
 */
export const PATIENCE: RequestOptions = { timeout: 300_000, resetTimeoutOnProgress: true };

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport["send"]>[1]>;

/**
 * The SDK's transport, but a request fails as soon as its response stream ends: the SDK's would wait for its time-out.
 */
export class GatewayTransport extends StreamableHTTPClientTransport {
	override async send(message: JSONRPCMessage, options: SendOptions = {}): Promise<void> {
		const onRequestStreamEnd = (): void => {
			options.onRequestStreamEnd?.();
			if (isJSONRPCRequest(message)) {
				// If the answer came before the stream ended, the SDK ignores this one.
				const error = { code: SERVER_ERROR, message: LOST };
				this.onmessage?.({ jsonrpc: "2.0", id: message.id, error });
			}
		};
		try {
			await super.send(message, { ...options, onRequestStreamEnd });
		} catch (error) {
			// The message of Node's fetch is always "fetch failed".
			const { cause } = error as Error;
			throw cause instanceof Error ? new Error(`${LOST}: ${cause.message}`, { cause: error }) : error;
		}
	}
}
