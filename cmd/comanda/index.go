package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"comanda/internal/clock"
	"comanda/internal/document"
	"comanda/internal/redisdb"
	"comanda/internal/system"
)

func (c *cli) index() *cobra.Command {
	return group("index", "Verify and rebuild the documents in Redis", c.indexVerify(), c.indexRebuild())
}

// indexVerify exits with 1 on a difference, so that a scheduled job can alert.
func (c *cli) indexVerify() *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Compare the documents in Redis with SQL", Args: noArguments,
		Long: "Compares in both directions: every row with its document, index entries and memo,\n" +
			"and everything in Redis with its rows. Prints counts and samples and exits with 1 on any\n" +
			"difference. It only reads, and may run beside servers: differences are checked again before they are\n" +
			"reported.",
		RunE: c.withRedis(func(cmd *cobra.Command, s *system.Service) (result, error) {
			if r, ok, err := nothingToCompare(cmd.Context(), s); ok || err != nil {
				return r, err
			}
			report, err := c.reporter(cmd, s, false)
			if err != nil {
				return result{}, err
			}
			v, err := s.VerifyDocuments(cmd.Context(), report)
			return result{v, func(w io.Writer) { printVerification(w, v) }, !v.Clean}, err
		}),
	}
}

// indexRebuild runs beside servers, which go on reading and writing documents.
func (c *cli) indexRebuild() *cobra.Command {
	return &cobra.Command{
		Use: "rebuild", Short: "Rebuild all documents in Redis", Args: noArguments,
		Long: "Writes every document with its index entries while servers read and write them, and finally removes\n" +
			"documents without a row. It may be interrupted: the next rebuild, manual or by a server, continues\n" +
			"there. Servers rebuild automatically when Redis has lost its keys. Without a Redis, a server must run: the\n" +
			"store is in its process.",
		RunE: c.withRedis(func(cmd *cobra.Command, s *system.Service) (result, error) {
			// Nothing can be rebuilt in a store that does not exist, so a script must not take it for success.
			if s.Redis == nil {
				return result{}, redisdb.ErrNotRunning
			}
			kept, why, err := s.KeepsDocuments(cmd.Context())
			if err != nil {
				return result{}, err
			}
			if !kept {
				return result{value: rebuilt{Note: why}, text: func(w io.Writer) { fmt.Fprintln(w, why) }}, nil
			}
			report, err := c.reporter(cmd, s, true)
			if err != nil {
				return result{}, err
			}
			var r rebuilt
			begun := clock.Start()
			err = s.RebuildDocuments(cmd.Context(), func(p document.Progress) {
				r.Documents = p.Done
				report(p)
			})
			r.Seconds = begun.Elapsed().Seconds()
			return result{value: r, text: func(w io.Writer) {
				fmt.Fprintf(w, "%s in %.1f s\n", count(r.Documents, "document", "documents"), r.Seconds)
			}}, err
		}),
	}
}

// rebuilt is the result of a rebuild. Seconds is the elapsed time, Note the reason why there was nothing to rebuild.
type rebuilt struct {
	Documents int     `json:"documents"`
	Seconds   float64 `json:"seconds"`
	Note      string  `json:"note,omitempty"`
}

// nothingToCompare returns the result for an installation without documents in Redis. It succeeds: none can be wrong.
func nothingToCompare(ctx context.Context, s *system.Service) (r result, ok bool, err error) {
	note := "The store is in the server's process, which is not running; nothing was compared."
	if s.Redis != nil {
		kept, why, err := s.KeepsDocuments(ctx)
		if kept || err != nil {
			return r, false, err
		}
		note = why
	}
	v := document.Verification{Clean: true, Note: note}
	return result{value: v, text: func(w io.Writer) { fmt.Fprintln(w, v.Note) }}, true, nil
}

// reporter returns a progress function: a bar on a terminal; otherwise, if lines is set, a line of JSON every second.
func (c *cli) reporter(cmd *cobra.Command, s *system.Service, lines bool) (func(document.Progress), error) {
	show := progress(cmd.ErrOrStderr())
	if show == nil {
		return jsonLines(cmd.ErrOrStderr(), lines && c.json), nil
	}
	// Counting costs a query, so it is done only if a bar is drawn.
	total, err := s.CountDocuments(cmd.Context())
	if err != nil {
		return nil, err
	}
	last := -1
	return func(p document.Progress) {
		if percent := min(100, 100*p.Done/max(total, 1)); percent != last {
			show(percent, 100, fmt.Sprintf("%d of %d documents, %s", p.Done, total, p.Entity))
			last = percent
		}
	}, nil
}

// jsonLines writes progress for programs, at most one line per second.
func jsonLines(w io.Writer, wanted bool) func(document.Progress) {
	e := json.NewEncoder(w)
	last := clock.Start()
	return func(p document.Progress) {
		if wanted && last.Elapsed() >= time.Second {
			last = clock.Start()
			_ = e.Encode(p) // failing to print progress must not fail the work
		}
	}
}

// printVerification prints counts and samples by kind of difference.
func printVerification(w io.Writer, v document.Verification) {
	total := 0
	for _, n := range v.Documents {
		total += n
	}
	if v.Clean {
		fmt.Fprintf(w, "clean; %s compared\n", count(total, "document", "documents"))
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(v.Found)) {
		fmt.Fprintf(w, "%d %s\n", v.Found[kind], kind)
		for _, s := range v.Samples[kind] {
			fmt.Fprintln(w, "   ", s)
		}
	}
}
