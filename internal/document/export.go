package document

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// line is a document in an export.
type exportLine struct {
	Entity    string          `json:"entity"`
	ID        string          `json:"id"`
	Document  json.RawMessage `json:"document"`
	Relations json.RawMessage `json:"relations,omitempty"` // what belongs to the document, but stands beside it
}

// Importable are the entities that an import takes, in the order in which it takes them. The ledger's are not among
// them: orders are more than their documents, and come back with a backup.
func Importable() []*Entity {
	return slices.DeleteFunc(slices.Clone(Entities), func(e *Entity) bool { return e.ExportOnly })
}

// Export writes documents as they are in SQL, one a line: entities in their order, documents in the order of their ids.
// The same rows always give the same text. All are of one moment: a document of a later one could refer to what was written
// behind the end of its entity, and no import would take it.
func Export(
	ctx context.Context, from SnapshotSource, entities []*Entity, to io.Writer, report func(Progress),
) (total int, err error) {
	w := bufio.NewWriterSize(to, 1<<16)
	err = from.Snapshot(ctx, func(ctx context.Context, at Source) error {
		total, err = exportAll(ctx, at, entities, w, report)
		return err
	})
	if err != nil {
		return total, err
	}
	return total, w.Flush()
}

func exportAll(
	ctx context.Context, source Source, entities []*Entity, w io.Writer, report func(Progress),
) (total int, err error) {
	for _, e := range Entities {
		if !slices.Contains(entities, e) {
			continue
		}
		for after := ""; ; {
			ids, err := source.IDs(ctx, e, after, batchSize)
			if err != nil {
				return total, err
			}
			if len(ids) == 0 {
				break
			}
			n, err := exportBatch(ctx, source, e, ids, w)
			if err != nil {
				return total, err
			}
			total += n
			after = ids[len(ids)-1]
			if report != nil {
				report(Progress{e.Name, total})
			}
		}
	}
	return total, nil
}

func exportBatch(ctx context.Context, source Source, e *Entity, ids []string, w io.Writer) (int, error) {
	docs, err := source.Read(ctx, e, ids)
	if err != nil {
		return 0, err
	}
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	slices.SortFunc(docs, func(a, b Document) int { return at[a.ID] - at[b.ID] })
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, d := range docs {
		l := exportLine{Entity: e.Name, ID: d.ID, Document: json.RawMessage(d.JSON), Relations: json.RawMessage(d.Relations)}
		if err := out.Encode(l); err != nil {
			return 0, fmt.Errorf("document: export: %w", err)
		}
	}
	return len(docs), nil
}
