import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { Hardware, HardwareWith, Part, WithNeeds } from "../../hardware/hardware.js";
import { createResource, type Resource, type ResourceDefinition } from "../../mcp_server/features/resources.js";

/** A resource, and the parts that a board must have to offer it. */
export interface HardwareResource extends Resource<Hardware>, WithNeeds {}

interface HardwareResourceDefinition<Needs extends Part, Uri extends string>
	extends ResourceDefinition<HardwareWith<Needs>, Uri>,
		WithNeeds<Needs> {}

/**
 * Makes a resource that reads a board's hardware. See docs/beyond-tools.md.
 *
 * @throws TypeError as {@link createResource} does
 */
export const defineResource = <const Needs extends Part, const Uri extends string>({
	needs,
	...definition
}: HardwareResourceDefinition<Needs, Uri>): HardwareResource =>
	deepFreeze({
		...(createResource(definition as ResourceDefinition<HardwareWith<Needs>, Uri>) as Resource<Hardware>),
		needs,
	});
