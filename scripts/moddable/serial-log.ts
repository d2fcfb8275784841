import { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import type { SerialPort } from "serialport";
import { PortError, permissionHint } from "./ports.js";

interface Events {
	/** A line that the board wrote, without its end and without control characters. */
	line: [line: string];
	/** The port is closed, with a reason unless by `close`. */
	closed: [reason: string | undefined];
}

/** Characters after which a line is cut: garbage at a wrong speed has no line ends. */
const MAX_LINE_LENGTH = 4_096;

/** Milliseconds between checks that the port is still there. */
const CHECK_INTERVAL = 500;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal must not be sent.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffd]/g;

/** Output of a board on its serial port, as lines of text. */
export class SerialLog extends EventEmitter<Events> {
	readonly #port: SerialPort;
	readonly #decoder = new StringDecoder("utf8");
	readonly #checks: NodeJS.Timeout;
	#line = "";
	/** Whether the board's port has gone. */
	#isGone = false;

	private constructor(port: SerialPort) {
		super();
		this.#port = port;
		port.on("data", (bytes: Buffer) => this.#read(this.#decoder.write(bytes)));
		port.on("error", (error) => this.emit("line", `serial port: ${error.message}`));
		port.on("close", (error: Error | null) => this.#closed(error !== null || this.#isGone));
		// Linux gives no error but 0 bytes for a port that has gone, which serialport then reads again and again.
		this.#checks = setInterval(() => {
			this.#isGone = port.path.startsWith("/dev/") && !existsSync(port.path);
			if (this.#isGone) {
				this.close();
			}
		}, CHECK_INTERVAL);
	}

	/**
	 * Opens a port exclusively: no other program can use it until it is closed.
	 *
	 * @param baud bits per second; a port of a chip's own USB has any speed
	 * @throws PortError with the problem and its fix
	 */
	static async open(path: string, baud: number): Promise<SerialLog> {
		const { SerialPort } = await import("serialport").catch((cause: unknown) => {
			throw new PortError("the package serialport is not installed: npm install --save-dev serialport", { cause });
		});
		const port = new SerialPort({ path, baudRate: baud, autoOpen: false });
		await new Promise<void>((resolve, reject) => {
			port.open((error) => (error ? reject(portError(path, error)) : resolve()));
		});
		return new SerialLog(port);
	}

	close(): void {
		if (this.#port.isOpen) {
			this.#port.close();
		}
	}

	#read(text: string): void {
		const lines = (this.#line + text).split(/\r?\n/);
		this.#line = lines.pop() as string;
		for (const line of lines) {
			this.#say(line);
		}
		while (this.#line.length > MAX_LINE_LENGTH) {
			this.#say(this.#line.slice(0, MAX_LINE_LENGTH));
			this.#line = this.#line.slice(MAX_LINE_LENGTH);
		}
	}

	#say(line: string): void {
		this.emit("line", stripVTControlCharacters(line).replace(CONTROL, ""));
	}

	#closed(isDisconnected: boolean): void {
		clearInterval(this.#checks);
		if (this.#line !== "") {
			this.#say(this.#line);
			this.#line = "";
		}
		this.emit("closed", isDisconnected ? "the board was disconnected" : undefined);
	}
}

/** The system's error with its fix. */
function portError(path: string, error: Error): PortError {
	if (/permission denied|access denied/i.test(error.message)) {
		return new PortError(`no permission to use ${path}. ${permissionHint(path)}`, { cause: error });
	}
	if (/cannot lock|busy/i.test(error.message)) {
		return new PortError(`${path} is in use by another program, such as a serial monitor or xsbug: close it first`, {
			cause: error,
		});
	}
	if (/no such file/i.test(error.message)) {
		return new PortError(`${path} does not exist: is the board connected?`, { cause: error });
	}
	return new PortError(`${path}: ${error.message}`, { cause: error });
}
