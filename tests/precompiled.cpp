// Something to compile beside the headers.
