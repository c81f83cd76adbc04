/** What leases remember of grants that are over, the oldest first: name, term, session, holder, toRevision, end. */
import { grantEnds, maxHolderBytes, maxLeaseNameBytes, maxPastGrantsOfName } from "@quorate/client/protocol";
import type { StateSection } from "./sections.ts";

export const pastGrantsSection: StateSection = {
  tag: 12,
  name: "past grants",
  *write(view, out) {
    for (const { name, past } of view.leases.values()) {
      for (const { term, session, holder, toRevision, end } of past) {
        out.byteString(name);
        out.varint(term);
        out.varint(session);
        out.byteString(holder);
        out.varint(toRevision);
        out.byte(grantEnds.indexOf(end));
        yield;
      }
    }
  },
  restore(state) {
    return {
      item(input) {
        const name = input.byteString("name", maxLeaseNameBytes);
        const term = input.varint("term");
        const session = input.varint("session");
        const holder = input.byteString("holder", maxHolderBytes);
        const toRevision = input.varint("revision");
        const end = grantEnds[input.byte("end")];
        const lease = state.leases.get(name);
        if (lease === undefined || end === undefined || lease.past.length >= maxPastGrantsOfName) {
          input.fail("a past grant is of no lease, has no known end, or is one too many");
          return;
        }
        const past = [...lease.past, { term, session, holder, toRevision, end }];
        state.leases.set(name, { ...lease, past });
        state.pastGrants += 1;
      },
      end: () => {},
    };
  },
};
