type GoType = (value: unknown) => boolean;

const STRING: GoType = (value) => typeof value === "string";
const INT: GoType = (value) => Number.isInteger(value);

const AUDIO_FORMAT = { format: STRING, sample_rate: INT, channels: INT, frame_duration: INT };

/** `ClientMessage` of hackers365/xiaozhi-esp32-server-golang, internal/data/client. A member that is not in it is ignored. */
const CLIENT_MESSAGE: Readonly<Record<string, GoType>> = {
	type: STRING,
	device_id: STRING,
	session_id: STRING,
	text: STRING,
	mode: STRING,
	state: STRING,
	token: STRING,
	device_mac: STRING,
	version: INT,
	transport: STRING,
	features: (value) => Object.values(value as object).every((item) => typeof item === "boolean"),
	audio_params: (value) => {
		decode(value, AUDIO_FORMAT);
		return true;
	},
};

/**
 * Checks a hello as that server does: it decodes the whole message, and then reads `audio_params` without asking whether
 * there are any. A hello that it rejects is never answered.
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
		if (members[name]?.(member) === false) {
			throw new TypeError(`${name}: cannot unmarshal ${JSON.stringify(member)}`);
		}
	}
}
