// Types that must not compile, or must be inferred: checked by `npm run typecheck`, never run.

import { definePrompt } from "../src/features/resources/define-prompt.js";
import { defineResource } from "../src/features/resources/define-resource.js";
import type { Reading } from "../src/hardware/kinds/sensor.js";
import { analog } from "../src/hardware/parts/analog.js";
import { button } from "../src/hardware/parts/button.js";
import { device } from "../src/hardware/parts/device.js";
import { pwm } from "../src/hardware/parts/pwm.js";
import { relay } from "../src/hardware/parts/relay.js";
import { elicit } from "../src/mcp_server/features/elicit.js";
import { titledEnumeration } from "../src/mcp_server/features/schemas.js";
import { array, boolean, enumeration, integer, number, object, optional, string } from "../src/mcp_server/schema.js";
import { defineTool } from "../src/tools/define-tool.js";

const about = { name: "t", description: "" };

defineTool({
	...about,
	needs: ["speaker"],
	input: {
		volume: integer(),
		theme: enumeration(["light", "dark"]),
		loud: boolean({ default: false }),
		points: array(object({ x: integer(), label: optional(string()) })),
	},
	run({ volume, theme, loud, points }, { speaker, screen }) {
		speaker.volume = volume satisfies number;
		const isDark: boolean = theme === "dark" || loud;
		const words: string | undefined = points[0]?.label;
		const sum: number = points.reduce((total, { x }) => total + x, 0);
		// @ts-expect-error a string is no number
		speaker.volume = theme;
		// @ts-expect-error no such theme
		const isBlue = theme === "blue";
		// @ts-expect-error the screen was not asked for, and may be missing
		screen.brightness = sum;
		return { isDark, words, isBlue };
	},
});

// @ts-expect-error a tool must return something
defineTool({ ...about, needs: [], run() {} });

// A board's lights, sensors and buttons have names, and each may be missing.
defineTool({
	...about,
	needs: ["lights", "sensors"],
	run(_args, { lights, sensors, buttons }) {
		for (const light of Object.values(lights)) {
			light.on = true;
			// @ts-expect-error not every light can be dimmed
			const percent: number = light.brightness;
			light.brightness = percent;
		}
		// @ts-expect-error there may be no light of this name
		lights.lamp.on = true;
		// @ts-expect-error the buttons were not asked for, and may be missing
		const names = Object.keys(buttons);
		const reading: Reading | undefined = sensors.room?.read();
		return { names, measured: reading !== undefined };
	},
});

// @ts-expect-error no such part
defineTool({ ...about, needs: ["wings"], run: () => true });

// @ts-expect-error no such argument
defineTool({ ...about, needs: [], input: { a: integer() }, run: ({ b }) => b });

// @ts-expect-error not what the output promises
defineTool({ ...about, needs: [], output: { level: integer() }, run: () => ({ level: "1" }) });

// @ts-expect-error the default is not one of the values
enumeration(["a", "b"], { default: "c" });

// Several parts may be asked for, and each is there; what takes time may be awaited.
defineTool({
	...about,
	needs: ["camera", "http"],
	input: { url: string({ default: "" }), grid: array(array(number())) },
	async run({ url, grid }, { camera, http, battery }, { client }) {
		const photo = await camera.capture();
		const body = [ArrayBuffer.fromString("photo: "), photo];
		const first: number | undefined = grid[0]?.[0];
		const token: string | undefined = client.vision?.token;
		const level: number | undefined = battery?.level;
		// @ts-expect-error the battery was not asked for, and may be missing
		const charging: boolean = battery.charging;
		// @ts-expect-error arguments are not to be changed
		grid.push([]);
		// @ts-expect-error nor are they where they are nested
		grid[0]?.push(1);
		const { status } = await http.request({ method: "POST", url, body });
		photo.close();
		return { status, first, token, level, charging };
	},
});

// A value with a default, or a required one, is never undefined; an optional one may be.
defineTool({
	...about,
	needs: [],
	input: {
		count: integer({ default: 1 }),
		where: object({ x: integer(), label: optional(string()), unit: enumeration(["m", "km"], { default: "m" }) }),
		mode: optional(enumeration(["a", "b"])),
	},
	run({ count, where, mode }) {
		const unit: "m" | "km" = where.unit;
		const total: number = count + where.x;
		// @ts-expect-error it may be undefined
		const length: number = where.label.length;
		// @ts-expect-error it may be undefined
		const known: "a" | "b" = mode;
		// @ts-expect-error no such unit
		const isMile = where.unit === "mile";
		// @ts-expect-error no such member
		const y = where.y;
		return { unit, total, length, known, isMile, y };
	},
});

// @ts-expect-error null is no result
defineTool({ ...about, needs: [], run: () => null });

// @ts-expect-error less than the output promises
defineTool({ ...about, needs: [], output: { level: integer(), unit: string() }, run: () => ({ level: 1 }) });

// @ts-expect-error an output is an object
defineTool({ ...about, needs: [], output: { level: integer() }, run: () => 1 });

defineTool({
	...about,
	needs: [],
	output: { level: integer(), note: optional(string()), points: array(object({ x: number() })) },
	run: async () => ({ level: 1, points: [{ x: 0.5 }] }),
});

// @ts-expect-error no such audience
defineTool({ ...about, needs: [], audience: "model", run: () => true });

// @ts-expect-error a tool has a description
defineTool({ name: "t", needs: [], run: () => true });

// @ts-expect-error a default of another type
integer({ default: "1" });

// The variables of a template are known by its URI; the parts asked for are there.
defineResource({
	uri: "log://{day}/{line}",
	name: "log",
	needs: ["screen"],
	read({ day, line }, { screen, speaker }) {
		const words: string = day + line;
		// @ts-expect-error the speaker was not asked for, and may be missing
		speaker.volume = screen.brightness;
		return words;
	},
});

// @ts-expect-error no such variable
defineResource({ uri: "log://{day}", name: "log", needs: [], read: ({ night }) => night });

// @ts-expect-error a resource must hold something
defineResource({ uri: "log://day", name: "log", needs: [], read() {} });

// An argument that is required is there; another one may not be.
definePrompt({
	name: "p",
	needs: [],
	arguments: { who: { required: true }, tone: {} },
	get({ who, tone }) {
		const name: string = who;
		// @ts-expect-error may be missing
		const words: string = tone;
		return name + words;
	},
});

// @ts-expect-error no such argument
definePrompt({ name: "p", needs: [], arguments: { who: {} }, get: ({ whom }) => `${whom}` });

titledEnumeration({ s: "Small", l: "Large" }, { default: "s" });

// @ts-expect-error the default is not one of the values
titledEnumeration({ s: "Small" }, { default: "m" });

// The user's input has the types of the fields, and is there only if they accepted.
defineTool({
	name: "asks",
	description: "",
	needs: [],
	async run(_args, _hardware, call) {
		const answer = await elicit(call, { message: "", fields: { age: integer(), note: optional(string()) } });
		// @ts-expect-error the user may have declined
		answer.content;
		if (answer.action === "accept") {
			const age: number = answer.content.age;
			// @ts-expect-error may be left out
			const note: string = answer.content.note;
			return `${age} ${note}`;
		}
		const visit = await elicit(call, { message: "", url: "https://example.org" });
		// @ts-expect-error a page that is visited has no content
		visit.content;
		return visit.action;
	},
});

// Handlers know the parts of their device by their names and kinds.
device({
	parts: { lamp: relay({ pin: 27 }), soil: analog({ pin: 34 }), doorbell: button({ pin: 0 }), strip: pwm({ pin: 4 }) },
	on: {
		doorbell: {
			press: ({ switches }, { milliseconds }) => (milliseconds satisfies number) && switches.lamp.toggle(),
			longPress: async ({ lights, speaker }) => {
				lights.strip.on = true;
				// @ts-expect-error a device may have no speaker
				speaker.volume = 1;
			},
		},
		soil: {
			below: [30, ({ switches }, { value }) => switches.lamp.turn(value < 20, 5), { cooldown: 600 }],
			change: (_hardware, { value }) => value satisfies Reading,
		},
		lamp: { change: ({ sensors }, { on }) => on && sensors.soil.read() },
		// @ts-expect-error Did you mean to write 'doorbell'?
		doorbel: {},
	},
	every: [[3600, ({ switches }) => switches.lamp.turn(false)]],
	// @ts-expect-error Did you mean 'lamp'?
	at: [["07:00", ({ switches }) => switches.lampe.toggle(), { days: ["mon"] }]],
});
device({
	parts: { doorbell: button({ pin: 0 }), lamp: relay({ pin: 27 }) },
	on: {
		// @ts-expect-error a button has no limits
		doorbell: { below: [30, () => {}] },
		// @ts-expect-error its handler is called change
		lamp: { changed: () => {} },
	},
});
