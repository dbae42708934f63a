package identityhttp

import "github.com/danielgtaylor/huma/v2"

// operations returns a function that describes the routes of one tag.
func operations(tag string) func(id, method, path, summary string, status int) huma.Operation {
	return func(id, method, path, summary string, status int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{tag}, Summary: summary, DefaultStatus: status,
		}
	}
}
