// Package analytics counts which dishes guests look at and add to a cart and what they search for, ranks dishes, suggests
// searches, and shows members the dishes that they have seen and order often. It also counts who is here now, and on which
// dates members were active. Nothing depends on its figures, and no order waits for them.
//
//	AN1  phones send views in batches; a batch with more than MaxDishes dishes is refused, and dishes that are not on
//	     the branch's menu are dropped
//	AN2  a view is counted in Redis, and in this process while Redis is unreachable; Flush adds the counters to SQL
//	     every few seconds
//	AN3  a batch of counters is added once, however many processes write it: its id is entered in the same transaction
//	AN4  a process that is killed loses the counters and searches in its memory, at most one interval of Flush; a Redis
//	     that is emptied loses those that were not flushed, at most as much
//	AN5  rankings are computed from SQL and stored in Redis; a missing one is computed again
//	AN6  a history is read and deleted by its member only; after a deletion, earlier views and orders no longer appear,
//	     and views that arrive late are not stored
//	AN7  a search is stored as its folded text without its person; texts that look like an address or a number are not
//	     stored
//	AN8  a search is added to SQL once: the position in the log moves in the transaction that adds it
//	AN9  a suggestion was searched by MinVisitors different visitors, and is written on the menu
//	AN10 a member is active on a date with any request that has a valid token; SQL has each member once per date, and
//	     the bitmaps in Redis are a copy that readers restore
//	AN11 a date without its complete bitmap is restored or counted in SQL; a member that a process has stored and could
//	     not mark is missing until its next round, or for ten minutes if it was killed
//	AN12 who is here now is counted from the times at which visitors were last seen; a killed process loses those of one
//	     interval of Flush, and a lost set fills again within a minute
package analytics
