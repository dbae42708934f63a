// Package catalog owns what a restaurant sells and when its day begins: branches, business dates, categories, dishes,
// menus, their versions and the standing daily quotas.
//
// A menu version is a draft until it is published and never changes afterwards; a branch has at most one published
// version, and publishing closes the former one in the same transaction. A menu item is one dish on one menu: its id
// outlives versions, so that a phone's cart and a quota counter survive a new version. What an item costs stands in the
// version; how many of it may be sold on a business date stands beside it and may change at any moment.
//
// An item may be off for a while, and a branch paused: both come and go without a new version, and both are decided with
// orders and not by what phones were shown. Categories, dishes and their pictures are the house's; a menu is a branch's.
//
// Readers get a Snapshot: an immutable picture of a branch's published menu, held in process by Menus. SQL decides,
// Redis only saves work: every snapshot carries the branch's menu revision, and a copy is believed only when its
// revision is the one that SQL gives.
//
// Invariants kept here, as numbered in docs/ARCHITECTURE.md:
//
//	I13 a total can be recomputed from the version it was made with: a published version's items and prices never change
//	I14 the business date is a function of the instant and never goes back
package catalog
