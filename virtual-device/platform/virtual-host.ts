import type { ByteSource, PictureSink } from "../../src/hardware/pictures.js";
import { toHex } from "../../src/text/hex.js";
import { boot, call, receive, send } from "./bridge.js";

export { AudioOut } from "./audio-out.js";
export { openCodec } from "./codec.js";

export const options = { macAddress: boot.macAddress, board: boot.board };

export function restart(delay: number): void {
	send(["board.restart", delay]);
}

export async function capture(): Promise<ByteSource> {
	return await takenPicture("capture");
}

export async function drawScreen(screen: object, quality: number): Promise<ByteSource> {
	return await takenPicture("drawScreen", { ...screen, quality });
}

/** Node has the picture, and sends it piece by piece. */
async function takenPicture(service: string, argument?: unknown): Promise<ByteSource> {
	const { id, byteLength } = (await call(service, argument)).value as { id: number; byteLength: number };
	return {
		byteLength,
		read: async (count) => (await call("readPicture", { id, count })).bytes,
		close: () => send(["board.pictureClosed", id]),
	};
}

let lastPreview = 0;

export function beginPicture(): PictureSink {
	lastPreview += 1;
	const id = lastPreview;
	return {
		write: (piece) => send(["board.pictureBytes", id], piece),
		end: async () => {
			await call("showPicture", id);
		},
		cancel: () => send(["board.pictureCancelled", id]),
	};
}

export function showScreen(screen: object, changed: readonly string[]): void {
	send(["board.screen", screen, changed]);
}

export const firmware = {
	capacity: boot.firmware.capacity,
	isOnTrial: boot.firmware.isOnTrial,
	begin: (): void => send(["board.firmware", "begin"]),
	write: (piece: ArrayBuffer): void => send(["board.firmware", "write"], piece),
	digest: async (): Promise<ArrayBuffer> => (await call("firmwareDigest")).bytes,
	finish: async (): Promise<void> => void (await call("firmwareFinish")),
	cancel: (): void => send(["board.firmware", "cancel"]),
	confirm: (): void => send(["board.firmware", "confirm"]),
	rollBack: (): void => send(["board.firmware", "rollBack"]),
	isSigned: async (key: ArrayBuffer, signature: ArrayBuffer, version: ArrayBuffer): Promise<boolean> =>
		(await call("isSigned", `${toHex(signature)} ${toHex(version)}`, key)).value === true,
};

export function showLight(name: string, light: object): void {
	send(["board.light", name, light]);
}

export function onButton(callback: (name: string, isDown: boolean) => void): void {
	receive("board.button", ([name, isDown]) => callback(name as string, isDown as boolean));
}

export function onBattery(callback: (level: number, charging: boolean) => void): void {
	receive("board.battery", ([level, charging]) => callback(level as number, charging as boolean));
}

export function onNetwork(callback: (online: boolean, rssi: number) => void): void {
	receive("board.network", ([online, rssi]) => callback(online as boolean, rssi as number));
}

/** @param callback gets the milliseconds for which the button is held down */
export function onPress(callback: (name: string, milliseconds: number) => void): void {
	receive("board.press", ([name, milliseconds]) => callback(name as string, milliseconds as number));
}

export function showChat(line: string): void {
	send(["board.chat", line]);
}

export function onChat(callback: (text: string) => void): void {
	receive("board.typed", ([text]) => callback(text as string));
}

export function onReading(callback: (sensor: string, reading: number | Record<string, number>) => void): void {
	receive("board.reading", ([sensor, reading]) => callback(sensor as string, reading as number));
}
