package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"comanda/internal/fault"
	"comanda/internal/price"
)

func (c *cli) price() *cobra.Command {
	quote := &cobra.Command{
		Use: "quote", Short: "Compute discounts, service, taxes and total of a bill",
		Long: "Reads a bill as JSON from standard input and prints its amounts as JSON. POST /api/price/quote takes the same\n" +
			"body and answers the same. Wrong input is listed field by field on standard error; the exit code is 1.",
		Example: `  echo '{"currency":"VND","priceMode":"INCLUSIVE","taxScope":"BILL","taxRounding":"HALF_UP",` + "\n" +
			`    "lines":[{"qty":2,"unitPrice":65000,"rate":"8"}]}' | comanda price quote`,
		Args: noArguments, RunE: fromJSON(price.Quote),
	}
	allocate := &cobra.Command{
		Use: "allocate", Short: "Split a total in proportion to weights, so that the parts add up to it",
		Example: `  echo '{"total":100,"weights":[1,1,1]}' | comanda price allocate`,
		Args:    noArguments, RunE: fromJSON(allocation.parts),
	}
	return group("price", "Compute bills and split amounts", quote, allocate)
}

type allocation struct {
	Total   *int64  `json:"total"` // required, because a missing total must not count as 0
	Weights []int64 `json:"weights"`
}

type parts struct {
	Parts []int64 `json:"parts"`
}

func (a allocation) parts() (parts, error) {
	if a.Total == nil {
		return parts{}, errors.New("the total is missing")
	}
	p, err := price.Allocate(*a.Total, a.Weights)
	return parts{p}, err
}

// maxJSON limits the standard input. A bill with the maximum number of lines is shorter.
const maxJSON = 4 << 20

// fromJSON returns a command's function that reads one JSON value, computes another and prints it. Unknown fields are
// refused, as over HTTP.
func fromJSON[In, Out any](compute func(In) (Out, error)) runner {
	return func(cmd *cobra.Command, _ []string) error {
		raw, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxJSON+1))
		if err != nil {
			return err
		}
		var in In
		if err := decodeJSON(raw, maxJSON, "the input", cmd.CommandPath(), &in); err != nil {
			return err
		}
		out, err := compute(in)
		if err != nil {
			fields := fault.FieldsOf(err)
			for _, e := range fields {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s: %s\n", e.Field, e.Code, e)
			}
			if len(fields) > 0 {
				return errFound
			}
			return err
		}
		return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
	}
}
