package httpapi

import (
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/fault"
)

// Operations returns a function that describes the routes of one tag.
func Operations(tag string) func(id, method, path, summary string, status int) huma.Operation {
	return func(id, method, path, summary string, status int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{tag}, Summary: summary, DefaultStatus: status,
		}
	}
}

// ParseID parses an id of a request body. Ids are strings in JSON, because JavaScript's numbers are not exact beyond
// 2^53.
func ParseID(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.Invalid, "invalid", "An id is a positive whole number.")
	}
	return id, nil
}
