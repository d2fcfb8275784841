import { type JSONRPCMessage, ProtocolErrorCode } from "@modelcontextprotocol/server";

/**
 * The JSON of a message. An answer that has none, because it nests too deep for example, becomes the error of its request:
 * its client would wait for it.
 *
 * @throws TypeError or RangeError if a request or a notification has none
 */
export function textOf(message: JSONRPCMessage): string {
	try {
		return JSON.stringify(message);
	} catch (error) {
		if ("method" in message) {
			throw error;
		}
		const problem = `the answer cannot be sent: ${(error as Error).message}`;
		return JSON.stringify({
			jsonrpc: "2.0",
			id: message.id,
			error: { code: ProtocolErrorCode.InternalError, message: problem },
		});
	}
}
