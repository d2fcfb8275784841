import { type ByteSource, heldBytes, readWhole } from "../../src/hardware/pictures.js";
import { openHttp } from "../doubles/fake-http-client.js";
import { equal, outcomeOf, settled, suite } from "../harness.js";

const bytes = (text: string): ArrayBuffer => ArrayBuffer.fromString(text);
const words = (piece: Uint8Array): string => String.fromArrayBuffer(Uint8Array.from(piece).buffer);

class SlowSource implements ByteSource {
	readonly byteLength = 6;
	readonly asked: number[] = [];
	closed = false;
	give: (piece: ArrayBuffer) => void = () => {};

	read(count: number): Promise<ArrayBuffer> {
		this.asked.push(count);
		return new Promise((resolve) => {
			this.give = resolve;
		});
	}

	close(): void {
		this.closed = true;
	}
}

const upload = (...body: (ArrayBuffer | ByteSource)[]) => openHttp().ask({ method: "POST", body });

export default suite("pictures", {
	async "are sent piece by piece, as there is room, between the other parts of a body"() {
		const { client } = upload(bytes("head "), heldBytes(new Uint8Array(bytes("PICTURE"))), bytes(" tail"));
		equal(client.sent.headers.get("Content-Length"), "17");
		client.grant(7);
		await settled();
		client.grant(4);
		await settled();
		client.grant(100);
		await settled();
		equal(client.written.map(words), ["head ", "PI", "CTUR", "E", " tail"]);
	},
	async "are asked for one piece at a time, however often there is room"() {
		const source = new SlowSource();
		const { client } = upload(source);
		client.grant(4);
		await settled();
		client.grant(4);
		await settled();
		equal(source.asked, [4]);
		source.give(bytes("ab"));
		await settled();
		equal([client.written.map(words), source.asked], [["ab"], [4, 2]]);
		source.give(bytes("cd"));
		await settled();
		equal(client.written.map(words), ["ab", "cd"]);
		equal(source.asked, [4, 2]);
	},
	async "that cannot be read, or are longer or shorter than they said, fail the request"() {
		for (const [piece, error] of [
			[Promise.reject(new Error("the camera is unplugged")), "the camera is unplugged"],
			[Promise.resolve(bytes("")), "0 bytes of the body were read, expected 1 to 3"],
			[Promise.resolve(bytes("abcd")), "4 bytes of the body were read, expected 1 to 3"],
		] as const) {
			const { client, end, timer } = upload({ byteLength: 3, read: () => piece, close() {} });
			client.grant(100);
			await settled();
			equal([end.error, client.closed, timer.size], [`http://host/path: ${error}`, true, 0]);
		}
	},
	async "that arrive after the request has ended are not sent"() {
		const source = new SlowSource();
		const { client, end } = upload(source);
		client.grant(100);
		client.fail();
		source.give(bytes("abcdef"));
		await settled();
		equal([client.written, end.error], [[], "http://host/path: no answer"]);
	},
	async "are read whole, and closed, if they fit"() {
		let closed = 0;
		const open = () =>
			heldBytes(new Uint8Array(bytes("12345")), () => {
				closed += 1;
			});
		equal([await readWhole(open(), 5), closed], [bytes("12345"), 1]);
		const end = outcomeOf(readWhole(open(), 4));
		await settled();
		equal([end, closed], [{ error: "picture of 5 bytes (limit 4)" }, 2]);
	},
});
