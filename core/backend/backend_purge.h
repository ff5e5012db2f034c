// Empty pages inside spans that are in use, given back so that a few stray blocks don't pin a span.
// Layer: backend.  Needs: base, os, policy, stats, region, route.
// SPDX-License-Identifier: MIT
#ifndef HAK_BACKEND_BACKEND_PURGE_H
#define HAK_BACKEND_BACKEND_PURGE_H

#include "backend/slab.h"

// True when enough pages became empty since the last purge to make one worth its while.
bool backend_purge_is_due(const struct slab_owner *owner);

// What the owner may keep of them: its part of the bound of the process.
size_t backend_purge_allowance(const struct slab_owner *owner);

// Gives the empty pages of the owner's spans back to the system; backend_purge_down_to only when they
// exceed `keep_bytes`, and then all of them.  Takes and drops the lock; the caller holds none.
// Returns the bytes given back.
size_t backend_purge(struct slab_owner *owner);
size_t backend_purge_down_to(struct slab_owner *owner, size_t keep_bytes);

// Ends a purge whose thread is gone: in a forked child.
void backend_purge_forget(struct slab_owner *owner);

#endif
