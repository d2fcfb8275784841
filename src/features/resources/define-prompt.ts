import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { Hardware, HardwareWith, Part, WithNeeds } from "../../hardware/hardware.js";
import {
	createPrompt,
	type Prompt,
	type PromptArguments,
	type PromptDefinition,
} from "../../mcp_server/features/prompts.js";

/** A prompt, and the parts that a board must have to offer it. */
export interface HardwarePrompt extends Prompt<Hardware>, WithNeeds {}

interface HardwarePromptDefinition<Needs extends Part, Arguments extends PromptArguments>
	extends PromptDefinition<HardwareWith<Needs>, Arguments>,
		WithNeeds<Needs> {}

/** Makes a prompt that may read a board's hardware. See docs/beyond-tools.md. */
export const definePrompt = <const Needs extends Part, const Arguments extends PromptArguments = Record<never, never>>(
	definition: HardwarePromptDefinition<Needs, Arguments>,
): HardwarePrompt => deepFreeze({ ...(createPrompt(definition) as Prompt<Hardware>), needs: definition.needs });
