import { WriteQueue } from "../core/text/write-queue.js";
import type { TimerHandle, TimerModule } from "../hardware/hardware.js";
import type { HttpConnection, ServedRequest, ServedResponse } from "./http-server.js";

/** One connection of an HTTP client, for one request and its answer. The body is kept if the subclass accepts it. */
export abstract class ServedExchange extends WriteQueue {
	protected readonly connection: HttpConnection;
	protected isEnded = false;
	private readonly timer: TimerModule;
	private limitTimer: TimerHandle | undefined;
	/** The body, of the length that the subclass expects. Undefined: it is dropped as it arrives. */
	protected body: Uint8Array | undefined;
	private received = 0;

	constructor(connection: HttpConnection, timer: TimerModule, maxQueuedBytes = Number.POSITIVE_INFINITY) {
		super(maxQueuedBytes, 0);
		this.connection = connection;
		this.timer = timer;
	}

	/** Takes the head of the request. */
	protected abstract onRequest(request: ServedRequest): void;

	/** Takes the whole request. @param body undefined if it was not kept */
	protected abstract onResponse(response: ServedResponse, body: ArrayBuffer | undefined): void;

	/** Writes up to this many bytes. */
	protected onWritable(count: number): void {
		this.setRoom(count);
	}

	/** Called when the connection has ended, to release the subclass's resources. */
	protected abstract onEnd(): void;

	protected override write(bytes: Uint8Array): number {
		return this.connection.write(bytes);
	}

	/** Starts receiving, as the last step of a subclass's constructor. */
	protected accept(): void {
		const { connection } = this;
		connection.accept({
			onRequest: (request) => this.onRequest(request),
			onReadable: (count) => {
				const piece = connection.read(count);
				if (piece !== undefined && this.body !== undefined) {
					this.body.set(new Uint8Array(piece), this.received);
					this.received += piece.byteLength;
				}
			},
			onResponse: (response) => {
				const { body } = this;
				this.body = undefined;
				this.onResponse(response, body?.buffer as ArrayBuffer | undefined);
			},
			onWritable: (count) => this.onWritable(count),
			onDone: () => this.release(),
			onError: () => this.release(),
		});
	}

	/** Ends the connection at once. */
	close(): void {
		if (!this.isEnded) {
			this.release();
			this.connection.close();
		}
	}

	/** Sets the time limit of the next step, in milliseconds, in place of the previous one. */
	protected limit(time: number, onTimeout: () => void = () => this.close()): void {
		this.timer.clear(this.limitTimer);
		this.limitTimer = this.timer.set(onTimeout, time);
	}

	private release(): void {
		if (!this.isEnded) {
			this.isEnded = true;
			this.timer.clear(this.limitTimer);
			this.onEnd();
		}
	}
}
