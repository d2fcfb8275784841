import { openCaptiveDns } from "../../src/hardware/drivers/captive-dns.js";
import type { UdpSocket } from "../../src/protocols/udp-socket.js";
import { equal, matches, ok, suite } from "../harness.js";

function query(name: string, { type = 1, flags = 0x01, questions = 1, more = [] as number[] } = {}): ArrayBuffer {
	const labels = name
		.split(".")
		.flatMap((label) => [label.length, ...Array.from(label, (letter) => letter.charCodeAt(0))]);
	const head = [0xab, 0xcd, flags, 0, 0, questions, 0, 0, 0, 0, 0, more.length > 0 ? 1 : 0];
	return Uint8Array.from([...head, ...labels, 0, 0, type, 0, 1, ...more]).buffer;
}

function serve() {
	const waiting: (ArrayBuffer & { readonly address: string; readonly port: number })[] = [];
	const sent: { bytes: number[]; address: string; port: number }[] = [];
	const log: string[] = [];
	const socket = { port: 0, isClosed: false, arrive: (_count: number): void => {} };
	class FakeUdp implements UdpSocket {
		constructor({ port, onReadable }: { port: number; onReadable: (count: number) => void }) {
			Object.assign(socket, { port, arrive: onReadable });
		}
		read() {
			return waiting.shift();
		}
		write(data: ArrayBuffer, address: string, port: number): void {
			if (port === 1) {
				throw new Error("no route");
			}
			sent.push({ bytes: [...new Uint8Array(data)], address, port });
		}
		close(): void {
			socket.isClosed = true;
		}
	}
	const dns = openCaptiveDns({ io: FakeUdp }, "192.168.4.1", (line) => log.push(line));
	const ask = (bytes: ArrayBuffer, port: number): number =>
		waiting.push(Object.assign(bytes, { address: "192.168.4.2", port }));
	return { dns, ask, sent, log, socket };
}

function answer(bytes: ArrayBuffer): number[] | undefined {
	const { ask, sent, socket } = serve();
	socket.arrive(ask(bytes, 5000));
	return sent[0]?.bytes;
}

const QUESTION = [1, 97, 2, 98, 99, 0, 0, 1, 0, 1];
const ADDRESS = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 192, 168, 4, 1];

const OPTION = [0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0];

export default suite("the DNS of the device's own network", {
	"answers every question for an address with the device's"() {
		equal(answer(query("a.bc")), [0xab, 0xcd, 0x85, 0, 0, 1, 0, 1, 0, 0, 0, 0, ...QUESTION, ...ADDRESS]);
		equal(answer(query("a.bc", { flags: 0 }))?.[2], 0x84);
	},
	"leaves out the options of a query, and so puts the answer where it is looked for"() {
		equal(answer(query("a.bc", { more: OPTION })), answer(query("a.bc")));
	},
	"answers a question of another type with no records, so that nobody waits"() {
		const [ipv6, https] = [answer(query("a.bc", { type: 28 })), answer(query("a.bc", { type: 65 }))];
		equal([ipv6?.length, ipv6?.[7], https?.length], [22, 0, 22]);
	},
	"does not answer what is no query"() {
		const whole = query("example.org");
		for (const [bytes, why] of [
			[new ArrayBuffer(0), "empty"],
			[whole.slice(0, 11), "no head"],
			[whole.slice(0, 20), "cut within the name"],
			[whole.slice(0, whole.byteLength - 1), "cut before the class"],
			[query("a", { questions: 0 }), "no question"],
			[query("a", { questions: 2 }), "two questions"],
			[query("a", { flags: 0x81 }), "an answer"],
			[query("a", { flags: 0x29 }), "an update"],
			[Uint8Array.from([...new Uint8Array(query("a")).subarray(0, 12), 0xc0, 12, 0, 1, 0, 1]).buffer, "a pointer"],
			[new ArrayBuffer(600), "too long"],
		] as const) {
			equal(answer(bytes), undefined, why);
		}
	},
	"answers each datagram where it came from, and outlives what cannot be sent"() {
		const { dns, ask, sent, log, socket } = serve();
		for (const port of [5000, 1, 5001]) {
			ask(query("a.bc"), port);
		}
		socket.arrive(ask(new ArrayBuffer(3), 5002));
		const answers = sent.map(({ bytes, address, port }) => [bytes.length, address, port]);
		equal(answers, [
			[38, "192.168.4.2", 5000],
			[38, "192.168.4.2", 5001],
		]);
		matches(log.join(), /^DNS: could not answer: Error: no route$/);
		dns.close();
		ok(socket.isClosed && socket.port === 53);
	},
});
