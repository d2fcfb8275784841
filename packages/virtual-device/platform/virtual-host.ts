import { toHex } from "src/core/text/hex";
import type { ByteSource, PictureSink } from "src/hardware/pictures";
import { boot, call, receive, send } from "./bridge.js";

export { AudioIn, AudioOut, OpusThread } from "./audio.js";

/** The options of the command line. */
export const options = { macAddress: boot.macAddress, resetReason: boot.resetReason, board: boot.board };

/** Messages of the board to Node. */
interface BoardMessages {
	/** Milliseconds. */
	restart: [delay: number];
	/** The content of the simulated screen; `changed` names the members of the face that were shown just now. */
	screen: [screen: object, changed: readonly string[]];
	light: [name: string, light: { on: boolean; brightness: number; color: number }];
	/** Degrees. */
	servo: [name: string, angle: number];
	/** A line of the conversation. */
	chat: [line: string];
	pictureClosed: [id: number];
	pictureCancelled: [id: number];
	firmware: [action: "begin" | "cancel" | "confirm" | "rollBack"];
}

export function tell<Kind extends keyof BoardMessages>(kind: Kind, ...args: BoardMessages[Kind]): void {
	send([`board.${kind}`, ...args]);
}

/** Actions of the user, and changes of the surroundings, as Node sends them to the board. */
interface UserActions {
	button: [name: string, isDown: boolean];
	/** The user holds a button down for some milliseconds. */
	press: [name: string, milliseconds: number];
	/** The user says a text by typing it. */
	typed: [text: string];
	/** Percent. */
	battery: [level: number, charging: boolean];
	/** The network is lost or comes back, or has another signal, in dBm. */
	network: [online: boolean, rssi: number];
	reading: [sensor: string, reading: number | Record<string, number>];
	/** The microphone is switched off, or on. */
	muted: [isMuted: boolean];
}

/** Sets the callback for a kind of action. Each kind has only one. */
export function on<Kind extends keyof UserActions>(kind: Kind, callback: (...args: UserActions[Kind]) => void): void {
	receive(`board.${kind}`, (args) => callback(...(args as UserActions[Kind])));
}

/** A picture of the simulated room, as a JPEG file. */
export async function capture(): Promise<ByteSource> {
	return await takenPicture("capture");
}

/** Draws the simulated screen, as a JPEG file. */
export async function drawScreen(screen: object, quality: number): Promise<ByteSource> {
	return await takenPicture("drawScreen", { ...screen, quality });
}

/** Node has the picture, and sends it piece by piece. */
async function takenPicture(service: string, argument?: unknown): Promise<ByteSource> {
	const { id, byteLength } = (await call(service, argument)).value as { id: number; byteLength: number };
	return {
		byteLength,
		read: async (count) => (await call("readPicture", { id, count })).bytes,
		close: () => tell("pictureClosed", id),
	};
}

let lastPreview = 0;

/** Shows a picture on the simulated screen. */
export function beginPicture(): PictureSink {
	lastPreview += 1;
	const id = lastPreview;
	return {
		write: (piece) => send(["board.pictureBytes", id], piece),
		end: async () => {
			await call("showPicture", id);
		},
		cancel: () => tell("pictureCancelled", id),
	};
}

/** The two places for firmware. */
export const firmware = {
	capacity: boot.firmware.capacity,
	isOnTrial: boot.firmware.isOnTrial,
	begin: (): void => tell("firmware", "begin"),
	write: (piece: ArrayBuffer): void => send(["board.firmware", "write"], piece),
	digest: async (): Promise<ArrayBuffer> => (await call("firmwareDigest")).bytes,
	finish: async (): Promise<void> => void (await call("firmwareFinish")),
	cancel: (): void => tell("firmware", "cancel"),
	confirm: (): void => tell("firmware", "confirm"),
	rollBack: (): void => tell("firmware", "rollBack"),
	isSigned: async (key: ArrayBuffer, signature: ArrayBuffer, version: ArrayBuffer): Promise<boolean> =>
		(await call("isSigned", `${toHex(signature)} ${toHex(version)}`, key)).value === true,
};
