import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { it } from "node:test";
import { openCaptiveDns } from "../../src/hardware/drivers/captive-dns.js";
import type { UdpSocket } from "../../src/protocols/udp-socket.js";

it("the DNS of the device's own network resolves every name to the device's address", async (t) => {
	const socket = createSocket("udp4");
	t.after(() => socket.close());
	socket.bind(0, "127.0.0.1");
	await once(socket, "listening");
	class Udp implements UdpSocket {
		readonly #waiting: (ArrayBuffer & { readonly address: string; readonly port: number })[] = [];

		constructor({ onReadable }: { onReadable: (count: number) => void }) {
			socket.on("message", (message, { address, port }) => {
				const bytes = Uint8Array.from(message).buffer;
				this.#waiting.push(Object.assign(bytes, { address, port }));
				onReadable(1);
			});
		}

		read() {
			return this.#waiting.shift();
		}

		write(data: ArrayBuffer, address: string, port: number): void {
			socket.send(new Uint8Array(data), port, address);
		}

		close(): void {}
	}
	const dns = openCaptiveDns({ io: Udp }, "192.168.4.1", assert.fail);
	t.after(() => dns.close());
	const resolver = new Resolver();
	resolver.setServers([`127.0.0.1:${socket.address().port}`]);
	assert.deepEqual(await resolver.resolve4("connectivitycheck.gstatic.com"), ["192.168.4.1"]);
	assert.deepEqual(await resolver.resolve4("captive.apple.com", { ttl: true }), [{ address: "192.168.4.1", ttl: 5 }]);
	await assert.rejects(resolver.resolve6("captive.apple.com"), { code: "ENODATA" });
});
