// Package documentredis stores documents in Redis: the JSON of each, its index entries, and a memo. The memo is a key
// with the document's version and the list of its index entries. An order and its lines have none as long as their JSON
// shows both; then "memo" below means what the JSON shows.
//
// A document is written in three round trips, each shared by hundreds of documents. BEGIN writes the JSON and the memo,
// unless the memo has a newer version, and returns the index entries that the document had before. Then entries are
// added and removed, on all nodes that have them. FINISH checks the memo once more. If it has another version by then,
// a newer writer has overtaken this one: the entries that the newer memo does not list are removed, and the document
// is projected again.
//
// Invariants:
//
//	D1  a document is never replaced by an older version of it, nor a deleted one by any version before its deletion
//	D2  every index entry of a document is listed in its memo from before it is added until after it is removed
//	D3  an entry of a unique index is removed only while it still leads to the document that releases it
//	D4  writing a version that is there already restores everything that belongs to it
//	D5  when no change is pending, documents, memos and entries are those that SQL implies
package documentredis
