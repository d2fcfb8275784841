import type { OpenUdp } from "src/features/voice/udp-audio";
import { forget, register, send } from "./bridge.js";

/** An audio channel over UDP, which Node implements. */
export const openUdp: OpenUdp = ({ server, port, key, nonce }, events) => {
	const id = register({
		packet(timestamp: number, bytes = new ArrayBuffer(0)) {
			events.onPacket(new Uint8Array(bytes), timestamp);
		},
		dropped: (reason: string) => events.onDropped(reason),
		error: (reason: string) => events.onFailed(reason),
	});
	send(["udp.open", id, server, port, [...key], [...nonce]]);
	return {
		send: (packet, timestamp) => send(["udp.write", id, timestamp], packet),
		close() {
			forget(id);
			send(["udp.close", id]);
		},
	};
};
