/** A member of a Go structure: what it is decoded into. */
type GoType = "string" | "int" | "map[string]bool" | "AudioFormat";

/** `ClientMessage` of hackers365/xiaozhi-esp32-server-golang, internal/data/client. A member that is not in it is ignored. */
const CLIENT_MESSAGE: Readonly<Record<string, GoType>> = {
	type: "string",
	device_id: "string",
	session_id: "string",
	text: "string",
	mode: "string",
	state: "string",
	token: "string",
	device_mac: "string",
	version: "int",
	transport: "string",
	features: "map[string]bool",
	audio_params: "AudioFormat",
};

/** Its `AudioFormat`, internal/data/audio. */
const AUDIO_FORMAT: Readonly<Record<string, GoType>> = {
	format: "string",
	sample_rate: "int",
	channels: "int",
	frame_duration: "int",
};

/**
 * Checks a hello as that server does: it decodes the whole message, and then reads `audio_params` without asking whether
 * there are any. A hello that it rejects is never answered.
 *
 * @throws TypeError that names the member
 */
export function checkGolangHello(text: string): void {
	const hello = JSON.parse(text) as Record<string, unknown>;
	decode(hello, CLIENT_MESSAGE);
	if (hello.type === "hello" && !hello.audio_params) {
		throw new TypeError("audio_params: nil pointer");
	}
}

function decode(value: unknown, members: Readonly<Record<string, GoType>>): void {
	for (const [name, member] of Object.entries(value as object)) {
		const type = members[name];
		if (type !== undefined && !fits(member, type)) {
			throw new TypeError(`${name}: cannot unmarshal ${JSON.stringify(member)} into ${type}`);
		}
	}
}

function fits(value: unknown, type: GoType): boolean {
	switch (type) {
		case "string":
			return typeof value === "string";
		case "int":
			return Number.isInteger(value);
		case "map[string]bool":
			return Object.values(value as object).every((item) => typeof item === "boolean");
		case "AudioFormat":
			decode(value, AUDIO_FORMAT);
			return true;
	}
}
