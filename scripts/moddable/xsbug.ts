import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type XsbugMessage, XsbugParser } from "./xsbug-parser.js";

interface MachineEvents {
	/** A line of the trace, without its end. */
	line: [line: string];
	/** The connection has ended: the machine has ended, or sent invalid data. */
	closed: [reason: string];
}

/** A debug-build machine, which reports its trace to its debugger. It runs without breakpoints. */
export class XsbugMachine extends EventEmitter<MachineEvents> {
	readonly #socket: Socket;
	readonly #onLogin: (machine: XsbugMachine) => void;
	#name = "";
	#engine = "";
	#line = "";
	#reason = "the machine has gone";

	/** @param onLogin called when the machine has introduced itself */
	constructor(socket: Socket, onLogin: (machine: XsbugMachine) => void) {
		super();
		this.#socket = socket;
		this.#onLogin = onLogin;
		const parser = new XsbugParser((message) => this.#heard(message));
		socket.on("data", (bytes) => this.#read(parser, bytes));
		socket.on("error", (error) => {
			this.#reason = error.message;
		});
		socket.on("close", () => this.#closed());
	}

	/** The program's name in the manifest. */
	get name(): string {
		return this.#name;
	}

	/** Such as "XS 17.7.0 64-bit LE 32-bit ID". */
	get engine(): string {
		return this.#engine;
	}

	#read(parser: XsbugParser, bytes: Buffer): void {
		try {
			parser.write(bytes);
		} catch (error) {
			this.#reason = (error as Error).message;
			this.#socket.destroy();
		}
	}

	#heard(message: XsbugMessage): void {
		switch (message.kind) {
			case "login":
				this.#name = message.name;
				this.#engine = message.engine;
				// A machine waits for its debugger before it runs its first line.
				this.#say("<set-all-breakpoints></set-all-breakpoints>");
				this.#say("<go/>");
				this.#onLogin(this);
				break;
			case "log":
				this.#traced(message.text);
				break;
			case "break":
				this.#traced(message.text);
				this.#say("<go/>");
				break;
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

/** The debugger to which machines connect, on 127.0.0.1. */
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

	/** @param port 0 for a free one */
	static async listen(port = 0): Promise<Xsbug> {
		const server = createServer();
		server.listen(port, "127.0.0.1");
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
