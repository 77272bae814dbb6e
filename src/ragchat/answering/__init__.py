"""A trace becomes an answer: prompt, model server, citations, quotation, conversation."""
