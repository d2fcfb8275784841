import { toHex } from "../../src/text/hex.js";
import { boot, call, send } from "./bridge.js";

export const options = { macAddress: boot.macAddress };

export function restart(delay: number): void {
	send(["board.restart", delay]);
}

export async function capture(): Promise<ArrayBuffer> {
	return (await call("capture")).bytes;
}

export async function drawScreen(screen: object, quality: number): Promise<ArrayBuffer> {
	return (await call("drawScreen", { ...screen, quality })).bytes;
}

export async function showPicture(picture: ArrayBuffer): Promise<void> {
	await call("showPicture", undefined, picture);
}

export function showScreen(screen: object): void {
	send(["board.screen", screen]);
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
	isSigned: async (key: ArrayBuffer, signature: ArrayBuffer): Promise<boolean> =>
		(await call("isSigned", toHex(signature), key)).value === true,
};
