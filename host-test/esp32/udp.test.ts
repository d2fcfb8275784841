// Speech by UDP on emulated chips: the SDK's sockets and cipher against Node's. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { describeChips } from "./chips.js";
import { startInSession } from "./device.js";
import { HOST_ADDRESS } from "./qemu.js";

const FIRMWARE = fileURLToPath(new URL("../fixtures/manifest_udp.json", import.meta.url));
const PACKETS = 250;
/** Bytes of 20 ms at 48 kilobits a second. */
const BYTES = 120;
const HEADER = 16;
const SEQUENCE = 12;

describeChips({ topic: "speech by UDP", firmware: FIRMWARE }, (build) => {
	it(`sends ${PACKETS} encrypted packets, and reads those of a server`, async (t) => {
		const [key, nonce] = [randomBytes(16), Buffer.from([1, ...randomBytes(15)])];
		const server = createSocket("udp4").bind(0, "127.0.0.1");
		t.after(() => server.close());
		await once(server, "listening");
		let heard = 0;
		server.on("message", (datagram, { address, port }) => {
			const header = Buffer.from(datagram.subarray(0, HEADER));
			const packet = createDecipheriv("aes-128-ctr", key, header).update(datagram.subarray(HEADER));
			assert.equal(packet[1], packet[BYTES - 1]);
			heard += 1;
			// Another counter: each of the device is already used.
			header.writeUInt32BE(heard + 1_000_000, 8);
			header.writeUInt32BE(heard, SEQUENCE);
			server.send([header, createCipheriv("aes-128-ctr", key, header).update(packet)], port, address);
		});
		const device = await startInSession(t, { image: await build(), settings: {} });
		const { port } = server.address();
		const keys = { key: key.toString("hex"), nonce: nonce.toString("hex") };
		const input = { server: HOST_ADDRESS, port, ...keys, packets: PACKETS, bytes: BYTES };
		const { result } = await device.call("self.test.echo_packets", input);
		const { milliseconds, ...counts } = JSON.parse(result.content[0].text);
		assert.deepEqual(counts, { sent: PACKETS, same: PACKETS, other: 0, dropped: 0 });
		assert.equal(heard, PACKETS);
		t.diagnostic(`${milliseconds} ms to encrypt and send ${PACKETS} packets of ${BYTES} bytes`);
	});
});
