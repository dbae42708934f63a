// Package documentredis keeps documents in Redis: the JSON of each, what can find it, and what is remembered about it.
//
// A document is written in three exchanges, each shared by hundreds of documents. BEGIN writes the JSON and the memo,
// unless the memo shows something newer, and tells which index entries the document had before. Then entries are added
// and removed, on whatever nodes they lie. FINISH looks at the memo once more. Whoever finds another version there has
// lost against a newer writer, takes back what that one does not own, and has the document projected anew.
//
// Invariants:
//
//	D1  a document is never replaced by an older version of it, nor a deleted one by any version before its deletion
//	D2  every index entry of a document stands in its memo from before it is added until after it is removed
//	D3  an entry of a unique index is removed only while it still leads to the document that gives it up
//	D4  writing a version that is there already restores everything that belongs to it
//	D5  when nothing is under way, documents, memos and entries are those that SQL implies
package documentredis
