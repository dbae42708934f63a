// Package catalog owns branches, business dates, categories, dishes, menus, menu versions and standing daily quotas.
//
// A menu version is a draft until it is published and never changes afterwards. A menu has at most one published version;
// publishing closes the previous one in the same transaction. A branch offers the published versions of its menus by their
// schedules, together or one instead of the others. A menu item is one dish on one menu. Its id is
// stable across versions, so a phone's cart and a quota counter survive a new version. Prices belong to the version.
// Standing quotas belong to the item and may change at any time.
//
// An item may be off ("86") for a while, and a branch may be paused. Both take effect without a new version and are
// enforced when an order is placed, whatever phones still show. Categories, dishes and images belong to the whole
// installation; a menu belongs to a branch.
//
// Readers get a Snapshot: an immutable view of a branch's published menu, cached in process by MenuCache. SQL is
// authoritative. Redis only saves work: a copy in Redis is used only when its revision is at least the branch's revision
// in SQL.
//
// Invariants kept here, as numbered in docs/ARCHITECTURE.md:
//
//	I13 a total can be recomputed from the version it was made with: a published version's items and prices never change
//	I14 the business date is a function of the instant and never goes back
package catalog
