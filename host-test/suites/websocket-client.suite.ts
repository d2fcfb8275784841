import { FramedWebSocketClient } from "../../src/protocols/websocket-client.js";
import { handshakeRequest } from "../../src/protocols/websocket-handshake.js";
import { FakeResolver, FakeSocket } from "../doubles/fake-socket.js";
import { equal, given, matches, ok, suite, throws } from "../harness.js";

const RESPONSE = [
	"HTTP/1.1 101 Switching Protocols",
	"Upgrade: websocket",
	"Connection: keep-alive, Upgrade",
	"Sec-WebSocket-Accept: any",
	"",
	"",
].join("\r\n");

const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10];

function frame(opcode: number, payload: string | Uint8Array = "", { final = true, long = false } = {}): Uint8Array {
	const bytes = typeof payload === "string" ? new Uint8Array(ArrayBuffer.fromString(payload)) : payload;
	const { length } = bytes;
	const sizes =
		long || length > 65_535
			? [127, 0, 0, 0, 0, length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255]
			: length > 125
				? [126, length >>> 8, length & 255]
				: [length];
	const head = [(final ? 0x80 : 0) | opcode, ...sizes];
	const whole = new Uint8Array(head.length + length);
	whole.set(head);
	whole.set(bytes, head.length);
	return whole;
}

function framesOf(written: readonly number[]): { opcode: number; final: boolean; text: string }[] {
	const frames = [];
	let at = 0;
	while (at < written.length) {
		const [first = 0, second = 0, high = 0, low = 0] = written.slice(at);
		ok((second & 0x80) !== 0, "the client masks");
		const isLong = (second & 0x7f) === 126;
		const length = isLong ? high * 256 + low : second & 0x7f;
		const maskAt = at + (isLong ? 4 : 2);
		const mask = written.slice(maskAt, maskAt + 4);
		const payload = written.slice(maskAt + 4, maskAt + 4 + length).map((byte, i) => byte ^ (mask[i % 4] as number));
		frames.push({
			opcode: first & 0x0f,
			final: (first & 0x80) !== 0,
			text: String.fromArrayBuffer(Uint8Array.from(payload).buffer),
		});
		at = maskAt + 4 + length;
	}
	return frames;
}

function connect({ reads = true, onMessage = (_text: string): void => {} } = {}) {
	const heard: string[] = [];
	const controls: [opcode: number, text: string][] = [];
	const errors: unknown[] = [];
	const rooms: number[] = [];
	let closed = 0;
	let text = "";
	const owner = { reads, unread: 0 };
	const take = (count: number, more: boolean, binary?: boolean): void => {
		const data = client.read(count);
		text += data === undefined ? "" : String.fromArrayBuffer(data);
		if (!more) {
			heard.push(binary ? `binary ${text}` : text);
			onMessage(text);
			text = "";
		}
	};
	const client: FramedWebSocketClient = new FramedWebSocketClient({
		host: "backend",
		port: 9000,
		path: "/a?b=c",
		headers: new Map([["Device-Id", "02:00"]]),
		dns: { io: FakeResolver },
		socket: Object.freeze({ io: FakeSocket, nodelay: true }),
		xor(bytes, mask) {
			bytes.forEach((byte, at) => {
				bytes[at] = byte ^ (mask[at % mask.length] as number);
			});
		},
		onReadable(count, { more, binary }) {
			owner.unread = count;
			if (owner.reads) {
				take(count, more, binary);
			}
		},
		onWritable: (count) => rooms.push(count),
		onControl: (opcode, data) => controls.push([opcode, String.fromArrayBuffer(data)]),
		onClose: () => {
			closed += 1;
		},
		onError: (error) => errors.push(error),
	});
	const resolver = FakeResolver.made.at(-1) as FakeResolver;
	return { client, resolver, owner, take, heard, controls, errors, rooms, closes: () => closed };
}

function resolve(options?: Parameters<typeof connect>[0]) {
	const fake = connect(options);
	fake.resolver.answer.onResolved("backend", "10.0.0.1");
	const socket = FakeSocket.made.at(-1) as FakeSocket;
	const request = (): string => String.fromArrayBuffer(Uint8Array.from(socket.written).buffer);
	return { ...fake, socket, request };
}

function ask(options?: Parameters<typeof connect>[0]) {
	const fake = resolve(options);
	fake.socket.grant(2000);
	return fake;
}

function open(options?: Parameters<typeof connect>[0]) {
	const fake = ask(options);
	fake.socket.arrive(RESPONSE);
	fake.socket.written.length = 0;
	return fake;
}

const settle = (): Promise<void> => Promise.resolve().then(() => {});

function failsWith(bytes: Uint8Array, pattern: RegExp): void {
	const { socket, errors, heard } = open();
	socket.arrive(bytes);
	equal([errors.length, heard, socket.closed], [1, [], true], pattern.source);
	matches((errors[0] as Error).message, pattern);
}

export default suite("WebSocket client", {
	"asks the address of its host for a WebSocket": given(ask, ({ resolver, request, socket }) => {
		equal(
			[resolver.host, socket.options.address, socket.options.host, socket.options.port],
			["backend", "10.0.0.1", "backend", 9000],
		);
		equal(socket.options.nodelay, true);
		const [first, ...lines] = request().split("\r\n");
		equal([first, lines.at(-1), lines.at(-2)], ["GET /a?b=c HTTP/1.1", "", ""]);
		for (const line of ["Host: backend:9000", "Upgrade: websocket", "Connection: Upgrade", "Device-Id: 02:00"]) {
			ok(lines.includes(line), line);
		}
		matches(request(), /\r\nSec-WebSocket-Key: [A-Za-z0-9+/]{21}[AQgw]==\r\n/);
	}),
	"sends a key of 16 random bytes in base64, from all zeros to all ones"() {
		const keyOf = (random: number): string | undefined => {
			const request = handshakeRequest({ host: "backend", port: 80, path: "/", headers: new Map() }, () => random);
			return /Sec-WebSocket-Key: (\S+)/.exec(String.fromArrayBuffer(request.buffer as ArrayBuffer))?.[1];
		};
		equal(keyOf(0), `${"A".repeat(22)}==`);
		equal(keyOf(0.5), `${"gICA".repeat(5)}gA==`);
		equal(keyOf(1 - Number.EPSILON), `${"/".repeat(21)}w==`);
	},
	"leaves the default ports out of its Host header"() {
		const hostAt = (port: number): string | undefined => {
			const request = handshakeRequest({ host: "backend", port, path: "/", headers: new Map() });
			return /^Host: (.*)\r$/m.exec(String.fromArrayBuffer(request.buffer as ArrayBuffer))?.[1];
		};
		equal([80, 443, 8080].map(hostAt), ["backend", "backend", "backend:8080"]);
	},
	"sends a request that is longer than the room for it piece by piece": given(resolve, ({ socket, request }) => {
		for (let turn = 0; turn < 40; turn += 1) {
			socket.grant(10);
		}
		matches(request(), /^GET .*\r\n\r\n$/s);
	}),
	"takes the server's response in single bytes, and frames that follow it at once"() {
		for (const pieces of [[RESPONSE, "\x81\x02ok"], Array.from(`${RESPONSE}\x81\x02ok`), [`${RESPONSE}\x81\x02ok`]]) {
			const { socket, heard, rooms } = ask();
			equal(rooms, []);
			socket.arrive(...pieces.map((piece) => Uint8Array.from(piece, (digit) => digit.charCodeAt(0))));
			equal([heard, rooms.length], [["ok"], 1]);
		}
	},
	"says why a server does not speak WebSocket"() {
		for (const [response, reason] of [
			["HTTP/1.1 401 Unauthorized\r\n", /^the server answered 401, expected 101$/],
			["SSH-2.0-OpenSSH\r\n", /^the server does not speak HTTP$/],
			[RESPONSE.replace("Upgrade: websocket\r\n", ""), /^the server's response lacks upgrade$/],
			[RESPONSE.replace("Upgrade: websocket", "Upgrade: h2c"), /lacks upgrade$/],
			[RESPONSE.replace("keep-alive, Upgrade", "close"), /lacks connection$/],
			[RESPONSE.replace("Sec-WebSocket-Accept", "X"), /lacks sec-websocket-accept$/],
			[`HTTP/1.1 101 Yes\r\nX: ${"x".repeat(5000)}`, /more than 4096 bytes/],
		] as const) {
			const { socket, errors, rooms } = ask();
			socket.arrive(response);
			equal([errors.length, rooms, socket.closed], [1, [], true]);
			matches((errors[0] as Error).message, reason);
		}
	},
	"writes nothing between its request and the response": given(ask, ({ socket }) => {
		socket.grant(2000);
		socket.arrive(RESPONSE.slice(0, 20));
		socket.grant(2000);
		equal(socket.writes, 1);
	}),
	"takes a response whose head is as long as it may be, and not a byte more"() {
		const responseOf = (bytes: number): Uint8Array => {
			const filler = `X: ${"x".repeat(bytes - RESPONSE.length - "X: \r\n".length)}\r\n`;
			return new Uint8Array(ArrayBuffer.fromString(RESPONSE.replace("\r\n", `\r\n${filler}`)));
		};
		for (const [bytes, rooms] of [
			[4096, 1],
			[4097, 0],
		] as const) {
			const fake = ask();
			fake.socket.arrive(responseOf(bytes));
			equal([fake.rooms.length, fake.errors.length], [rooms, 1 - rooms], `${bytes} bytes`);
		}
	},
	"says that its host was not found, and opens no socket once it is closed": given(connect, (lost) => {
		lost.resolver.answer.onError();
		matches((lost.errors[0] as Error).message, /^backend: address not found$/);
		const late = connect();
		late.client.close();
		const sockets = FakeSocket.made.length;
		late.resolver.answer.onResolved("backend", "10.0.0.1");
		equal([FakeSocket.made.length, late.errors], [sockets, []]);
	}),
	"reports a socket that cannot be opened, and one that breaks, once": given(resolve, ({ socket, errors }) => {
		socket.options.onError();
		socket.options.onError();
		equal([errors, socket.closed], [[undefined], true]);
	}),
	"receives messages of every length, cut at every byte"() {
		for (const [payload, long] of [
			["", false],
			["short", false],
			["x".repeat(125), false],
			["x".repeat(126), false],
			["y".repeat(300), true],
		] as const) {
			const bytes = frame(TEXT, payload, { long });
			for (let cut = 1; cut < bytes.length; cut += 1) {
				const { socket, heard } = open();
				socket.arrive(frame(TEXT, "before"), bytes.subarray(0, cut), bytes.subarray(cut), frame(TEXT, "after"));
				equal(heard, ["before", payload, "after"], `${bytes.length} bytes, cut after ${cut}`);
			}
		}
	},
	"receives a message of more than 65,535 bytes": given(open, ({ socket, heard }) => {
		socket.arrive(frame(TEXT, "x".repeat(65_536)));
		equal(heard[0]?.length, 65_536);
	}),
	"keeps the framing if its owner writes while a header is half read, wherever that is cut"() {
		for (const payload of ["next", "y".repeat(200)]) {
			const next = frame(TEXT, payload);
			for (let cut = 1; cut < next.length; cut += 1) {
				const { client, socket, heard } = open();
				socket.arrive(frame(TEXT, "first"), next.subarray(0, cut));
				client.write(new Uint8Array(100), { binary: false });
				socket.arrive(next.subarray(cut));
				equal(heard, ["first", payload], `cut after ${cut}`);
			}
		}
	},
	async "loses and repeats nothing if its owner puts off reading, wherever a frame is cut"() {
		const bytes = Uint8Array.of(...frame(TEXT, "one"), ...frame(PING, "p"), ...frame(TEXT, "y".repeat(130)));
		for (let cut = 3; cut < bytes.length; cut += 1) {
			const { socket, owner, take, heard, client } = open({ reads: false });
			socket.arrive(bytes.subarray(0, cut));
			socket.arrive(bytes.subarray(cut));
			const first = owner.unread;
			equal([first > 0, heard], [true, []]);
			owner.reads = true;
			take(first, first < 3);
			await settle();
			equal(heard, ["one", "y".repeat(130)], `cut after ${cut}`);
			equal([framesOf(socket.written).length, client.read(1)], [1, undefined]);
		}
	},
	async "reads a part little by little, and offers the next only then"() {
		const { socket, owner, client, heard } = open({ reads: false });
		socket.arrive(frame(TEXT, "abc"), frame(TEXT, "next"));
		const pieces = [client.read(1), client.read(5), client.read(1)].map((data) => data && String.fromArrayBuffer(data));
		equal(pieces, ["a", "bc", undefined]);
		owner.reads = true;
		equal(heard, []);
		await settle();
		equal(heard, ["next"]);
	},
	"puts the frames of a message together, with a ping between them": given(open, ({ socket, heard, controls }) => {
		socket.arrive(frame(TEXT, "a", { final: false }), frame(CONTINUATION, "", { final: false }));
		socket.arrive(frame(PING, "?"), frame(CONTINUATION, "b"), frame(BINARY, "c"), frame(TEXT, "d"));
		equal([heard, controls], [["ab", "binary c", "d"], [[PING, "?"]]]);
	}),
	"answers a ping, the last of several if there is no room": given(open, ({ socket, rooms }) => {
		socket.arrive(frame(PING, "hello"));
		socket.grant(5);
		socket.arrive(frame(PING, "a"), frame(PING, "b"));
		socket.grant(100);
		const pongs = framesOf(socket.written).map(({ opcode, final, text }) => [opcode, final, text]);
		equal(pongs, [
			[PONG, true, "hello"],
			[PONG, true, "b"],
		]);
		equal(rooms.at(-1), 100 - 7 - 8);
	}),
	"tells its owner of pongs, and answers none": given(open, ({ socket, controls }) => {
		socket.arrive(frame(PONG, "x"), frame(PONG));
		equal(controls, [
			[PONG, "x"],
			[PONG, ""],
		]);
		equal(socket.written, []);
	}),
	"answers a close, and is closed": given(open, ({ socket, controls, closes, errors }) => {
		socket.arrive(frame(CLOSE, Uint8Array.of(3, 69)));
		equal([controls.length, closes(), errors, socket.closed], [1, 1, [], true]);
		const opcodes = framesOf(socket.written).map(({ opcode }) => opcode);
		equal(opcodes, [CLOSE]);
		socket.options.onError();
		equal([closes(), errors], [1, []]);
	}),
	"rejects what a server may not send"() {
		failsWith(Uint8Array.of(0xc1, 0), /^unknown WebSocket frame 0xc1$/);
		failsWith(Uint8Array.of(0x83, 0), /^unknown WebSocket frame/);
		failsWith(Uint8Array.of(0x8b, 0), /^unknown WebSocket frame/);
		failsWith(Uint8Array.of(0x81, 0x80), /^masked/);
		failsWith(Uint8Array.of(0x09, 0), /fragmented or too long$/);
		failsWith(Uint8Array.of(0x89, 126), /fragmented or too long$/);
		failsWith(frame(CONTINUATION, "x"), /continuation without a start/);
		const { socket, errors, heard } = open();
		socket.arrive(frame(TEXT, "a", { final: false }), frame(TEXT, "b"), frame(TEXT, "c"));
		equal([errors.length, heard], [1, []]);
	},
	"writes messages of every length, whole and in parts, masked"() {
		for (const length of [0, 1, 2, 3, 4, 5, 125, 126, 127, 1000]) {
			const { client, socket } = open();
			const text = "abcde".repeat(length).slice(0, length);
			const bytes = new Uint8Array(ArrayBuffer.fromString(text));
			equal(client.write(bytes, { binary: false }), socket.room - 8);
			equal(framesOf(socket.written), [{ opcode: TEXT, final: true, text }]);
			equal(socket.written.length, (length > 125 ? 8 : 6) + length);
		}
		const { client, socket } = open();
		const part = Uint8Array.of(120);
		client.write(part, { binary: false, more: true });
		client.write(part, { opcode: PING });
		client.write(part, { binary: false, more: true });
		client.write(part, { binary: false });
		client.write(part, {});
		equal(
			framesOf(socket.written).map(({ opcode, final }) => [opcode, final]),
			[
				[TEXT, false],
				[PING, true],
				[CONTINUATION, false],
				[CONTINUATION, true],
				[BINARY, true],
			],
		);
	},
	"writes all or throws": given(connect, (early) => {
		throws(() => early.client.write(new Uint8Array(1), {}), /^no room for 1 bytes$/);
		const { client, socket, rooms } = open();
		socket.grant(100);
		equal(rooms.at(-1), 92);
		throws(() => client.write(new Uint8Array(93), {}), /^no room for 93 bytes$/);
		equal(socket.written, []);
		equal(client.write(new Uint8Array(92), {}), 0);
		socket.grant(1_000_000);
		equal(rooms.at(-1), 65_535);
		throws(() => client.write(new Uint8Array(65_536), {}), /^no room/);
		client.close();
		throws(() => client.write(new Uint8Array(1), {}), /^no room/);
	}),
	"reports what its owner throws, rather than throw it into the socket"() {
		const { socket, errors } = open({
			onMessage() {
				throw new Error("in the owner");
			},
		});
		socket.arrive(frame(TEXT, "x"), frame(TEXT, "y"));
		equal([errors.length, socket.closed], [1, true]);
		matches((errors[0] as Error).message, /^in the owner$/);
	},
	"says nothing more once its owner has closed it, from a callback too"() {
		const fake = open({ onMessage: () => fake.client.close() });
		fake.socket.arrive(Uint8Array.of(...frame(TEXT, "a"), ...frame(TEXT, "b")));
		equal([fake.heard, fake.errors, fake.closes(), fake.client.read(1)], [["a"], [], 0, undefined]);
	},
});
