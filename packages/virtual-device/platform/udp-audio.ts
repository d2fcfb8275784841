import type { OpenUdp } from "src/features/voice/udp-audio";
import { receive, send } from "./bridge.js";

type Events = Parameters<OpenUdp>[1];

const open = new Map<number, Events>();
let lastId = 0;

/** An audio channel over UDP, whose work Node does. */
export const openUdp: OpenUdp = ({ server, port, key, nonce }, events) => {
	lastId += 1;
	const id = lastId;
	open.set(id, events);
	send(["udp.open", id, server, port, [...key], [...nonce]]);
	return {
		send: (packet, timestamp) => send(["udp.write", id, timestamp], packet),
		close() {
			open.delete(id);
			send(["udp.close", id]);
		},
	};
};

receive("udp.packet", ([id, timestamp], bytes = new ArrayBuffer(0)) =>
	open.get(id as number)?.onPacket(new Uint8Array(bytes), timestamp as number),
);
receive("udp.dropped", ([id, reason]) => open.get(id as number)?.onDropped(reason as string));
receive("udp.error", ([id, reason]) => open.get(id as number)?.onFailed(reason as string));
