// SPDX-License-Identifier: MIT
#include "backend/backend_purge.h"

#include "backend/backend.h"
#include "policy/gates.h"
#include "stats/budget.h"

// All owners together may keep half of the bound on dirty memory, beside a share of what they hold; an
// owner what the others leave of that, and a sixteenth of it in any case.  Read without the lock: a wrong
// answer only moves the purge to another call.
__attribute__((no_sanitize_thread)) size_t backend_purge_allowance(const struct slab_owner *owner)
{
    size_t bound = gate_live(&gates.dirty_limit) / 2;
    size_t all_bytes = budget_read(&budget.emptied_bytes);
    size_t others_bytes = all_bytes - min_size(owner->emptied_bytes, all_bytes);
    size_t left_bytes = bound - min_size(others_bytes, bound);
    return max_size(left_bytes, bound / 8) + owner->taken_bytes / 16;
}

__attribute__((no_sanitize_thread)) bool backend_purge_is_due(const struct slab_owner *owner)
{
    return owner->emptied_bytes != 0 && owner->emptied_bytes > backend_purge_allowance(owner);
}

// emptied_bytes counts every page that became empty, also those that were used again since; here it
// is set right.
static void correct_emptied(struct slab_owner *owner, size_t bytes)
{
    budget_subtract(&budget.emptied_bytes, owner->emptied_bytes - bytes);
    owner->emptied_bytes = bytes;
}

// Decides under the lock whether to purge, and if so puts what was found out of refill's reach.
static bool begin(struct slab_owner *owner, size_t keep_bytes)
{
    size_t found_bytes = 0;
    if (owner->is_purging) {
        return false;
    }
    for (unsigned i = 0; i < BACKEND_COUNT; i++) {
        found_bytes += backend_table[i].purge != NULL ? backend_table[i].purge->find(owner) : 0;
    }
    if (found_bytes <= keep_bytes) {
        correct_emptied(owner, found_bytes);
        return false;
    }
    owner->is_purging = true;
    correct_emptied(owner, 0);
    for (unsigned i = 0; i < BACKEND_COUNT; i++) {
        if (backend_table[i].purge != NULL) {
            backend_table[i].purge->begin(owner);
        }
    }
    return true;
}

static void purge(struct slab_owner *owner)
{
    for (unsigned i = 0; i < BACKEND_COUNT; i++) {
        if (backend_table[i].purge != NULL) {
            backend_table[i].purge->purge(owner);
        }
    }
}

static size_t finish(struct slab_owner *owner)
{
    size_t purged_bytes = 0;
    for (unsigned i = 0; i < BACKEND_COUNT; i++) {
        purged_bytes += backend_table[i].purge != NULL ? backend_table[i].purge->finish(owner) : 0;
    }
    owner->is_purging = false;
    return purged_bytes;
}

// While the lock is dropped is_purging keeps a second purge out.
size_t backend_purge_down_to(struct slab_owner *owner, size_t keep_bytes)
{
    size_t purged_bytes = 0;
    lock_take(owner->lock);
    if (begin(owner, keep_bytes)) {
        lock_give(owner->lock);
        purge(owner);
        lock_take(owner->lock);
        purged_bytes = finish(owner);
    }
    lock_give(owner->lock);
    return purged_bytes;
}

size_t backend_purge(struct slab_owner *owner)
{
    return backend_purge_down_to(owner, 0);
}

void backend_purge_forget(struct slab_owner *owner)
{
    for (unsigned i = 0; i < BACKEND_COUNT; i++) {
        if (backend_table[i].purge != NULL) {
            backend_table[i].purge->forget(owner);
        }
    }
    owner->is_purging = false;
}
