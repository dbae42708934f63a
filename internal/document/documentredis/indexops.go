package documentredis

import (
	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// indexOps collects additions to and removals from indexes. Members of one set share a command.
type indexOps struct {
	add, remove sets
	unique      []uniqueClaim
	cmds        []redisdb.Cmd
}

// sets groups members by key. Keys keep the order in which they were added, so replies can be matched by index.
type sets struct {
	at   map[keyspace.Key]int
	keys []keyspace.Key
	ids  [][]string
}

// uniqueClaim is a unique value that a document takes, with the index of its command.
type uniqueClaim struct {
	ref document.Ref
	at  int
}

func newIndexOps() *indexOps {
	return &indexOps{add: sets{at: map[keyspace.Key]int{}}, remove: sets{at: map[keyspace.Key]int{}}}
}

// put adds a member to a set and returns the index of the set.
func (s *sets) put(k keyspace.Key, member string) (at int) {
	i, ok := s.at[k]
	if !ok {
		i = len(s.keys)
		s.at[k] = i
		s.keys, s.ids = append(s.keys, k), append(s.ids, nil)
	}
	s.ids[i] = append(s.ids[i], member)
	return i
}

// list adds a document to the list of all of its entity, or removes it.
func (o *indexOps) list(r document.Ref, present bool) {
	if present {
		o.add.put(r.Entity.Keys.List(), r.ID)
	} else {
		o.remove.put(r.Entity.Keys.List(), r.ID)
	}
}

// entry adds or removes an entry under all of its keys.
func (o *indexOps) entry(r document.Ref, e document.IndexEntry, present bool) {
	for _, family := range e.Index.Keys {
		key, member := keyAndMember(family, r.ID, e.Value)
		if !key.Valid() { // from a memo that another program has written
			continue
		}
		switch {
		case e.Index.Unique && present:
			o.unique = append(o.unique, uniqueClaim{r, len(o.cmds)})
			// GET returns the former owner, which has lost its entry and must be projected again.
			o.cmds = append(o.cmds, redisdb.Command("SET", key, member, "GET"))
		case e.Index.Unique:
			o.cmds = append(o.cmds, removeScript.Command([]keyspace.Key{key}, member))
		case present:
			o.add.put(key, member)
		default:
			o.remove.put(key, member)
		}
	}
}

// keyAndMember returns the key of an entry and the value stored there.
func keyAndMember(family *keyspace.DocumentIndex, id, value string) (key keyspace.Key, member string) {
	if family.Own {
		return family.Key(id), value
	}
	return family.Key(value), id
}

// commands returns the set operations first; offsets from the end stay valid for commands appended to cmds.
func (o *indexOps) commands() []redisdb.Cmd {
	var cmds []redisdb.Cmd
	for i, k := range o.add.keys {
		cmds = append(cmds, redisdb.Command("SADD", k, o.add.ids[i]...))
	}
	for i, k := range o.remove.keys {
		cmds = append(cmds, redisdb.Command("SREM", k, o.remove.ids[i]...))
	}
	for i := range o.unique {
		o.unique[i].at += len(cmds)
	}
	o.cmds = append(cmds, o.cmds...)
	return o.cmds
}

// listChanges returns how many documents the commands have added to an entity's list, and how many they have removed.
func (o *indexOps) listChanges(e *document.Entity, replies []redisdb.Reply) (added, removed int64, err error) {
	list := e.Keys.List()
	if i, ok := o.add.at[list]; ok {
		if added, err = replies[i].Int(); err != nil {
			return 0, 0, err
		}
	}
	if i, ok := o.remove.at[list]; ok {
		removed, err = replies[len(o.add.keys)+i].Int()
	}
	return added, removed, err
}

// displaced returns the documents whose unique values another document has taken.
func (o *indexOps) displaced(replies []redisdb.Reply) []document.Ref {
	var refs []document.Ref
	for _, t := range o.unique {
		if id, ok, err := replies[t.at].Text(); err == nil && ok && id != t.ref.ID {
			refs = append(refs, document.Ref{Entity: t.ref.Entity, ID: id})
		}
	}
	return refs
}
