import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import sax from "sax";

interface MachineEvents {
	line: [line: string];
	closed: [reason: string];
}

/**
 * A debug-build machine, which reports its trace to its debugger. It runs without breakpoints.
 *
 * Of xsbug's protocol, a stream of XML fragments, frames, variables, counters and profiles are skipped.
 */
export class XsbugMachine extends EventEmitter<MachineEvents> {
	readonly #socket: Socket;
	readonly #onLogin: (machine: XsbugMachine) => void;
	readonly #parser = sax.parser(true, { position: false });
	#name = "";
	#engine = "";
	#text = "";
	#place = "";
	#line = "";
	#reason = "the machine has gone";

	/** @param onLogin called when the machine has introduced itself */
	constructor(socket: Socket, onLogin: (machine: XsbugMachine) => void) {
		super();
		this.#socket = socket;
		this.#onLogin = onLogin;
		this.#parser.ontext = (text) => {
			this.#text += text;
		};
		this.#parser.onopentag = ({ name, attributes }) => this.#opened(name, attributes as Record<string, string>);
		this.#parser.onclosetag = (name) => this.#ended(name);
		this.#parser.onerror = (error) => {
			throw new Error(`not xsbug's protocol: ${error.message.split("\n")[0]}`);
		};
		// A document has one root: a stream of them is put into one that never ends.
		this.#parser.write("<stream>");
		socket.setEncoding("utf8").on("data", (text: string) => this.#read(text));
		socket.on("error", (error) => {
			this.#reason = error.message;
		});
		socket.on("close", () => this.#closed());
	}

	get name(): string {
		return this.#name;
	}

	/** Engine, for example "XS 17.7.0 64-bit LE 32-bit ID". */
	get engine(): string {
		return this.#engine;
	}

	/** When the text is not XML, nothing more can be read. */
	#read(text: string): void {
		try {
			this.#parser.write(text);
		} catch (error) {
			this.#reason = (error as Error).message;
			this.#socket.destroy();
		}
	}

	#opened(tag: string, { name = "", value = "", path, line }: Readonly<Record<string, string>>): void {
		this.#text = "";
		this.#place = path === undefined ? "" : `${path}:${line} `;
		if (tag === "login") {
			this.#name = name;
			this.#engine = value;
			// A machine waits for its debugger before it runs its first line.
			this.#say("<set-all-breakpoints></set-all-breakpoints>");
			this.#say("<go/>");
			this.#onLogin(this);
		}
	}

	/** A log is a piece of the trace, not always a line; at a break, the machine has stopped, and waits for a command. */
	#ended(tag: string): void {
		if (tag === "log" || tag === "break") {
			this.#traced(this.#place + this.#text);
		}
		if (tag === "break") {
			this.#say("<go/>");
		}
	}

	#say(command: string): void {
		this.#socket.write(`\r\n${command}\r\n`);
	}

	#traced(text: string): void {
		const lines = (this.#line + text).split("\n");
		this.#line = lines.pop() as string;
		for (const line of lines) {
			this.emit("line", line);
		}
	}

	#closed(): void {
		if (this.#line !== "") {
			this.emit("line", this.#line);
		}
		this.emit("closed", this.#reason);
	}
}

export class Xsbug extends EventEmitter<{ machine: [machine: XsbugMachine] }> {
	readonly #server: Server;
	readonly #sockets = new Set<Socket>();

	private constructor(server: Server) {
		super();
		this.#server = server;
		server.on("connection", (socket) => {
			this.#sockets.add(socket);
			socket.on("close", () => this.#sockets.delete(socket));
			new XsbugMachine(socket, (machine) => this.emit("machine", machine));
		});
	}

	static async listen(): Promise<Xsbug> {
		const server = createServer();
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		return new Xsbug(server);
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	/** Ends every connection, which lets the machines run on without a debugger. */
	close(): void {
		this.#server.close();
		for (const socket of this.#sockets) {
			socket.destroy();
		}
	}
}
