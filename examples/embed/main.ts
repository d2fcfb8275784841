// A transport of the project's own: one message a line over TCP, on every address, without a token.
import Listener from "embedded:io/socket/listener";
import TCP from "embedded:io/socket/tcp";
import config from "mc/config";
import server from "./thermostat.js";

/** Bytes of a line at most. */
const MAX_LINE = 4_096;

const NEWLINE = 10;

const listener: Listener = new Listener({
	port: Number(config.port),
	onReadable(connections: number) {
		for (let at = 0; at < connections; at += 1) {
			serve(listener.read() as TCP);
		}
	},
});

function serve(from: TCP): void {
	let line: number[] = [];
	let room = 0;
	const session = server.open({
		send: (message) => {
			const bytes = ArrayBuffer.fromString(`${message}\n`);
			if (bytes.byteLength > room) {
				// The client does not read its response.
				end();
				return;
			}
			socket.write(bytes);
			room -= bytes.byteLength;
		},
	});
	const end = (): void => {
		session.close();
		socket.close();
	};
	const socket: TCP = new TCP({
		from,
		format: "buffer",
		onReadable() {
			for (const byte of new Uint8Array(socket.read() as ArrayBuffer)) {
				if (byte !== NEWLINE) {
					line.push(byte);
				} else {
					const text = String.fromArrayBuffer(Uint8Array.from(line).buffer);
					line = [];
					session.receiveText(text);
				}
			}
			if (line.length > MAX_LINE) {
				end();
			}
		},
		onWritable(bytes: number) {
			room = bytes;
		},
		onError: () => session.close(),
	});
}
