import { boot, call, send } from "./bridge.js";

export { AudioOut } from "./audio-out.js";

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

export async function upgrade(url: string): Promise<void> {
	await call("upgrade", { url });
}
