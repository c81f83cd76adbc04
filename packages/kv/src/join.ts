/** join(): a node of the cluster in this process. Only chooses real ports; assembleNode.ts puts the node together. */

import { holdProcess } from "@quorate/client/internal";
import {
  type Logger,
  type LogStore,
  type NodeId,
  type Random,
  silentLogger,
  systemClock,
  systemRandom,
} from "@quorate/raft";
import { openDirectory } from "@quorate/storage";
import { MemoryBatchStore, MemorySlotFile, MemorySnapshotFiles, openLog } from "@quorate/storage/internal";
import { websocketNetwork } from "@quorate/transport";
import { assembleNode, type NodeCluster } from "./assembleNode.ts";
import { type JoinOptions, resolveJoinOptions } from "./joinOptions.ts";
import { NodePages } from "./pages/nodePages.ts";

/**
 * Starts a node and gives the cluster as that node's process sees it. `join({ id: "a" })` alone is a whole cluster in
 * memory, for a service's own tests.
 *
 * Resolves when the node runs, which does not mean that its peers do: requests wait for a leader within their timeout.
 * Rejects `INVALID_OPTIONS`, `ADDRESS_IN_USE`, `DIRECTORY_IN_USE`, `WRONG_DIRECTORY`, `DATA_LOST` or `STORAGE_FAILED`.
 */
export async function join(options: JoinOptions): Promise<NodeCluster> {
  const { node, nodeId, dataDir } = resolveJoinOptions(options);
  const { logger = silentLogger, clock = systemClock(), random = systemRandom() } = options;
  const { secret, tls } = options;
  const pages = new NodePages();
  const network =
    options.network ??
    websocketNetwork({
      logger,
      pages: (request) => pages.answer(request),
      ...(secret === undefined ? {} : { secret }),
      ...(tls === undefined ? {} : { tls }),
    });
  const log = await openStorage(dataDir, nodeId, random, logger);
  const assembled = await assembleNode({ log, network, clock, random, logger, hold: holdProcess }, node);
  pages.open({ ...assembled, clock });
  return assembled;
}

function openStorage(
  dataDir: string | undefined,
  nodeId: NodeId,
  random: Random,
  logger: Logger,
): Promise<LogStore> {
  if (dataDir !== undefined) return openDirectory(dataDir, { nodeId, random, logger });
  return openLog({
    batches: new MemoryBatchStore(),
    slots: new MemorySlotFile(),
    snapshots: new MemorySnapshotFiles(),
    nodeId,
    random,
    logger,
    location: "memory",
    mayCreate: true,
  });
}
