package document

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// exportLine is a document in an export.
type exportLine struct {
	Entity    string          `json:"entity"`
	ID        string          `json:"id"`
	Document  json.RawMessage `json:"document"`
	Relations json.RawMessage `json:"relations,omitempty"` // hidden values of the document
}

// Importable returns the entities that an import accepts, in import order. Orders are not imported: their documents
// contain only a part of an order, so orders are restored from a backup.
func Importable() []*Entity {
	return slices.DeleteFunc(slices.Clone(Entities), func(e *Entity) bool { return e.ExportOnly })
}

// Export writes the documents in SQL, one per line: entities in their order, documents by id. Equal rows produce equal
// text. All rows are read in one snapshot. Otherwise a document could refer to a row that was inserted after its
// entity had been exported, and an import would refuse it.
func Export(
	ctx context.Context, from SnapshotSource, entities []*Entity, to io.Writer, report func(Progress),
) (total int, err error) {
	// After an error the writer has received an incomplete export.
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

// exportAll writes the documents of the entities in the order of Entities. It pages by id, so that documents which change
// meanwhile are neither skipped nor written twice.
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

// exportBatch writes documents in the order of ids. HTML escaping is off, because exporting an import must reproduce
// the file.
func exportBatch(ctx context.Context, source Source, e *Entity, ids []string, w io.Writer) (int, error) {
	docs, err := readInOrder(ctx, source, e, ids)
	if err != nil {
		return 0, err
	}
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
